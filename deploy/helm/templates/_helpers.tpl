{{- define "wac.selector" -}}
{{ toJson (dict "app.kubernetes.io/name" "wac" "app.kubernetes.io/instance" .Release.Name) }}
{{- end -}}

{{- define "wac.labels" -}}
{{ toJson (dict "app.kubernetes.io/name" "wac" "app.kubernetes.io/instance" .Release.Name "app.kubernetes.io/version" .Chart.AppVersion "app.kubernetes.io/managed-by" .Release.Service "helm.sh/chart" (printf "%s-%s" .Chart.Name .Chart.Version)) }}
{{- end -}}

{{- define "wac.image" -}}
{{- if .Values.image.digest -}}
{{ printf "%s@%s" .Values.image.repository .Values.image.digest | quote }}
{{- else -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}
{{- end -}}
{{- end -}}

{{- /* the secret's keys are files, so none of them is in the environment of a process */ -}}
{{- define "wac.environment" -}}
{{- range $name, $value := .Values.environment }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- range .Values.secret.keys }}
{{ . }}_FILE: {{ printf "/run/secrets/wac/%s" . | quote }}
{{- end }}
{{- end -}}
