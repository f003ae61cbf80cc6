package stack

func (s *service) addDashboard() {}
