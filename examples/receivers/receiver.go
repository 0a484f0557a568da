// A receiver for Go: WEBHOOK_SECRET=whsec_… INBOX=inbox PORT=3000 go run receiver.go
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var seconds, eventID = regexp.MustCompile(`^[0-9]{1,12}$`), regexp.MustCompile(`^evt_\w+$`)

// verify tells whether the header X-Service-Signature was made with this secret, over these raw bytes, within 300 seconds.
func verify(body []byte, header, secret string, now int64) (genuine bool) {
	values := map[string][]string{}
	for _, pair := range strings.Split(header, ",") {
		name, value, _ := strings.Cut(pair, "=")
		values[name] = append(values[name], value)
	}
	times, signatures := values["t"], values["v1"]
	if secret == "" || len(header) > 4096 || len(signatures) > 8 || len(times) != 1 || !seconds.MatchString(times[0]) {
		return false
	}
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(times[0] + "." + string(body)))
	expected := []byte(hex.EncodeToString(mac.Sum(nil)))
	for _, signature := range signatures {
		genuine = hmac.Equal(expected, []byte(signature)) || genuine
	}
	t, _ := strconv.ParseInt(times[0], 10, 64)
	return genuine && now-t <= 300 && t-now <= 300
}

// store keeps an event once, whole or not at all. Do the work later, from there: 5 seconds are soon over.
// Leave a file of this name there after the work: the event can come again.
func store(id string, body []byte) error {
	path := os.Getenv("INBOX") + "/" + id + ".json"
	temporary := path + "." + strconv.FormatInt(time.Now().UnixNano(), 36)
	defer os.Remove(temporary)
	err := os.WriteFile(temporary, body, 0o600)
	if err == nil {
		err = os.Link(temporary, path)
	}
	if os.IsExist(err) {
		return nil // it came before: answer 200 again
	}
	return err
}

func receive(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	var event struct{ ID string }
	if err != nil || !verify(body, r.Header.Get("X-Service-Signature"), os.Getenv("WEBHOOK_SECRET"), time.Now().Unix()) {
		http.Error(w, "refused", http.StatusBadRequest)
	} else if json.Unmarshal(body, &event) != nil || !eventID.MatchString(event.ID) {
		http.Error(w, "no event with an id", http.StatusBadRequest) // the webhook's envelope is b
	} else if store(event.ID, body) != nil {
		http.Error(w, "not stored", http.StatusInternalServerError) // it comes again
	}
}

func main() {
	os.MkdirAll(os.Getenv("INBOX"), 0o755)
	panic(http.ListenAndServe("127.0.0.1:"+os.Getenv("PORT"), http.HandlerFunc(receive)))
}
