package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// With this file and the word "check", verify judges what comes line by line: so the receiver is tested.
func init() {
	if len(os.Args) < 2 || os.Args[1] != "check" {
		return
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var d struct {
			Body           []byte
			Header, Secret string
			Now            int64
		}
		json.Unmarshal(lines.Bytes(), &d)
		fmt.Println(map[bool]string{true: "ok", false: "refused"}[verify(d.Body, d.Header, d.Secret, d.Now)])
	}
	os.Exit(0)
}
