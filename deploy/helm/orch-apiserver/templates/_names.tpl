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

{{- /* The flags that the pod needs, over those of the values, over those that the values may change. */}}
{{- define "orch-apiserver.config" -}}
{{- $own := dict "bind-address" "0.0.0.0" "secure-port" 6443 "data-dir" "/data/orch" -}}
{{- $service := dict "external-hostname" (printf "%s.%s.svc:%v" (include "orch-apiserver.name" .) .Release.Namespace .Values.service.port) -}}
{{ toYaml (merge $own .Values.config $service) }}
{{- end }}
