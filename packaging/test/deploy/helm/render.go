// Renders charts with Go's own text/template, as Helm does, with those of its functions that deploy/helm uses. Reads
// JSON: {"templates": {path: text}, "cases": [root]}; writes for each case {path: output} as JSON.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
)

type input struct {
	Templates map[string]string
	Cases     []map[string]interface{}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func isEmpty(value interface{}) bool {
	truth, _ := template.IsTrue(value)
	return !truth
}

func render(templates map[string]string, root map[string]interface{}) map[string]string {
	all := template.New("").Option("missingkey=error")
	all.Funcs(template.FuncMap{
		"include": func(name string, data interface{}) (string, error) {
			var out bytes.Buffer
			err := all.ExecuteTemplate(&out, name, data)
			return out.String(), err
		},
		"toJson": func(value interface{}) (string, error) {
			text, err := json.Marshal(value)
			return string(text), err
		},
		"fromJson": func(text string) (map[string]interface{}, error) {
			value := map[string]interface{}{}
			err := json.Unmarshal([]byte(text), &value)
			return value, err
		},
		"dict": func(pairs ...interface{}) map[string]interface{} {
			value := map[string]interface{}{}
			for i := 0; i+1 < len(pairs); i += 2 {
				value[fmt.Sprint(pairs[i])] = pairs[i+1]
			}
			return value
		},
		// the first one wins
		"merge": func(all ...map[string]interface{}) map[string]interface{} {
			for _, more := range all[1:] {
				for name, value := range more {
					if _, known := all[0][name]; !known {
						all[0][name] = value
					}
				}
			}
			return all[0]
		},
		"default": func(fallback, value interface{}) interface{} {
			if isEmpty(value) {
				return fallback
			}
			return value
		},
		"quote":     func(value interface{}) string { return fmt.Sprintf("%q", fmt.Sprint(value)) },
		"sha256sum": func(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) },
		"nindent": func(spaces int, text string) string {
			indent := "\n" + strings.Repeat(" ", spaces)
			return indent + strings.ReplaceAll(text, "\n", indent)
		},
		"join": func(separator string, values []interface{}) string {
			texts := []string{}
			for _, value := range values {
				texts = append(texts, fmt.Sprint(value))
			}
			return strings.Join(texts, separator)
		},
	})
	for path, text := range templates {
		_, err := all.New(path).Parse(text)
		must(err)
	}
	rendered := map[string]string{}
	for path := range templates {
		if strings.HasPrefix(filepath.Base(path), "_") {
			continue
		}
		var out bytes.Buffer
		must(all.ExecuteTemplate(&out, path, root))
		rendered[path] = out.String()
	}
	return rendered
}

func main() {
	var given input
	must(json.NewDecoder(os.Stdin).Decode(&given))
	rendered := []map[string]string{}
	for _, root := range given.Cases {
		rendered = append(rendered, render(given.Templates, root))
	}
	must(json.NewEncoder(os.Stdout).Encode(rendered))
}
