package callers

// Each partition key of the package's items begins with one of these. The exported ones are their patterns of IAM.
const (
	calls, CallKeys       = "calls/", calls + "*"       // calls that are noted
	hashes, HashKeys      = "key/", hashes + "*"        // API keys, by their hashes
	ids, IDKeys           = "keyid/", ids + "*"         // pointers to API keys, by their ids
	listed, ListedKeys    = allKeys + "/", listed + "*" // pointers to the API keys of an account
	rates, RateKeys       = "rate/", rates + "*"        // counts of calls
	used, UsedKeys        = "used/", used + "*"         // uses of API keys
	freed, FreedKeys      = "freed/", freed + "*"       // uses that were given back
	sessions, SessionKeys = "sessions/", sessions + "*" // generations of sessions
)

// CheckedKeys returns the partition keys that a program reads and changes to check who calls, as patterns of IAM.
func CheckedKeys() []string { return []string{CallKeys, HashKeys, IDKeys, RateKeys} }
