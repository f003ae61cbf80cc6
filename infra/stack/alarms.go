package stack

func (s *service) addAlarms() {}
