{{- define "orch-apiserver.name" -}}
{{- if contains "orch-apiserver" .Release.Name }}{{ .Release.Name | trunc 52 | trimSuffix "-" }}{{ else }}{{ printf "%s-orch-apiserver" .Release.Name | trunc 52 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "orch-apiserver.selector" -}}
app.kubernetes.io/name: orch-apiserver
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "orch-apiserver.labels" -}}
{{ include "orch-apiserver.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "orch-apiserver.config" -}}
{{- $own := dict "bind-address" "0.0.0.0" "data-dir" "/data/orch" "external-hostname" (printf "%s.%s.svc" (include "orch-apiserver.name" .) .Release.Namespace) -}}
{{ toYaml (merge $own .Values.config) }}
{{- end }}
