/**
 * Which names are taken for misspelled variables (contract §8).
 */
import { assert, describe, it } from "@effect/vitest"
import * as Misspelled from "../../src/Misspelled.ts"
import * as Variable from "../../src/Variable.ts"

const { known } = Variable

const find = (set: ReadonlyArray<string>) => Misspelled.find(set, known, known)

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ_0"]

/** Every name that one edit makes of a name. */
const edits = (name: string): ReadonlySet<string> => {
  const places = [...name].map((_, at) => at)
  const made = new Set([
    ...places.map((at) => name.slice(0, at) + name.slice(at + 1)),
    ...places.slice(1).map((at) => name.slice(0, at - 1) + name[at]! + name[at - 1]! + name.slice(at + 1)),
    ...places.flatMap((at) => letters.map((letter) => name.slice(0, at) + letter + name.slice(at + 1))),
    ...[...places, name.length].flatMap((at) => letters.map((letter) => name.slice(0, at) + letter + name.slice(at)))
  ])
  made.delete(name)
  return made
}

describe("a name that is one edit away from a variable", () => {
  it.each(known)("%s is recognized after any edit that leaves nine letters, and no shorter name is", (name) => {
    for (const edited of edits(name)) {
      if (known.includes(edited)) continue
      const found = find([edited])
      if (edited.length < 9) assert.isUndefined(found, edited)
      // one edit may lead to two names that are known
      else assert.isTrue(found?.name === edited && (found.meant === name || edits(found.meant).has(edited)), edited)
    }
  })

  it.each(known)("%s is not meant by another name if it is set itself", (name) => {
    for (const edited of edits(name)) {
      assert.notStrictEqual(find([edited, name])?.meant, name, edited)
    }
  })

  it("the first of several misspelled names is found, whatever their order", () => {
    const first = { name: "DATABSE_URL", meant: "DATABASE_URL" }
    assert.deepStrictEqual(find(["WAC_LIMTIS", "DATABSE_URL"]), first)
    assert.deepStrictEqual(find(["DATABSE_URL", "WAC_LIMTIS"]), first)
  })

  it("a name that is two edits away is not found", () => {
    for (const name of ["DATBSE_URL", "DATABASE_URIS", "WHATSAPP_ACESS_TOKNE", "EPYT_ESABATAD", ""]) {
      assert.isUndefined(find([name]), name)
    }
  })
})

/** Variables that other programs set or read. */
const ofOthers = {
  shells:
    "HOME PATH PWD OLDPWD SHELL SHLVL TERM COLORTERM USER USERNAME LOGNAME LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES TZ EDITOR VISUAL PAGER LESS LS_COLORS HOSTNAME HOSTTYPE MACHTYPE OSTYPE DISPLAY WAYLAND_DISPLAY TMPDIR MAIL HISTFILE HISTSIZE SSH_AUTH_SOCK SSH_CLIENT SSH_CONNECTION SSH_TTY SUDO_COMMAND SUDO_GID SUDO_UID SUDO_USER DBUS_SESSION_BUS_ADDRESS XDG_CACHE_HOME XDG_CONFIG_DIRS XDG_CONFIG_HOME XDG_CURRENT_DESKTOP XDG_DATA_DIRS XDG_DATA_HOME XDG_RUNTIME_DIR XDG_SESSION_CLASS XDG_SESSION_ID XDG_SESSION_TYPE DEBIAN_FRONTEND TERM_PROGRAM TERM_PROGRAM_VERSION HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY http_proxy https_proxy no_proxy SSL_CERT_DIR SSL_CERT_FILE",
  node:
    "NODE NODE_ENV NODE_OPTIONS NODE_PATH NODE_DEBUG NODE_EXTRA_CA_CERTS NODE_NO_WARNINGS NODE_TLS_REJECT_UNAUTHORIZED NODE_USE_ENV_PROXY NODE_COMPILE_CACHE NODE_VERSION YARN_VERSION FORCE_COLOR NO_COLOR UV_THREADPOOL_SIZE INIT_CWD",
  npm:
    "npm_command npm_config_cache npm_config_global_prefix npm_config_globalconfig npm_config_init_module npm_config_local_prefix npm_config_node_gyp npm_config_noproxy npm_config_npm_version npm_config_prefix npm_config_registry npm_config_user_agent npm_config_userconfig npm_execpath npm_lifecycle_event npm_lifecycle_script npm_node_execpath npm_package_json npm_package_name npm_package_version NPM_CONFIG_LOGLEVEL NPM_TOKEN",
  systemd:
    "INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET WATCHDOG_PID WATCHDOG_USEC LISTEN_FDS LISTEN_PID LISTEN_FDNAMES MAINPID MANAGERPID SYSTEMD_EXEC_PID CREDENTIALS_DIRECTORY STATE_DIRECTORY CACHE_DIRECTORY LOGS_DIRECTORY RUNTIME_DIRECTORY CONFIGURATION_DIRECTORY MEMORY_PRESSURE_WATCH MEMORY_PRESSURE_WRITE EXIT_CODE EXIT_STATUS SERVICE_RESULT PIDFILE",
  platforms:
    "KUBERNETES_PORT KUBERNETES_PORT_443_TCP KUBERNETES_PORT_443_TCP_ADDR KUBERNETES_PORT_443_TCP_PORT KUBERNETES_PORT_443_TCP_PROTO KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT KUBERNETES_SERVICE_PORT_HTTPS POD_NAME POD_NAMESPACE POD_IP NODE_NAME DYNO SOURCE_VERSION WEB_CONCURRENCY RENDER_EXTERNAL_URL RAILWAY_PUBLIC_DOMAIN FLY_APP_NAME FLY_REGION K_SERVICE K_REVISION K_CONFIGURATION CI GITHUB_ACTIONS GITHUB_TOKEN CONTAINER_NAME",
  databases:
    "PGHOST PGPORT PGUSER PGPASSWORD PGPASSFILE PGDATABASE PGSSLMODE PGAPPNAME PGDATA POSTGRES_DB POSTGRES_USER POSTGRES_PASSWORD POSTGRES_PASSWORD_FILE POSTGRES_URL DATABASE_HOST DATABASE_NAME DATABASE_USER DATABASE_PORT DATABASE_PASSWORD DATABASE_PRIVATE_URL DATABASE_PUBLIC_URL REDIS_URL",
  AWS:
    "AWS_ACCOUNT_ID AWS_CA_BUNDLE AWS_CONFIG_FILE AWS_CONTAINER_AUTHORIZATION_TOKEN AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_DEFAULT_REGION AWS_EC2_METADATA_DISABLED AWS_ENDPOINT_URL_S3 AWS_EXECUTION_ENV AWS_IGNORE_CONFIGURED_ENDPOINT_URLS AWS_MAX_ATTEMPTS AWS_PROFILE AWS_RETRY_MODE AWS_ROLE_ARN AWS_ROLE_SESSION_NAME AWS_SDK_LOAD_CONFIG AWS_SHARED_CREDENTIALS_FILE AWS_STS_REGIONAL_ENDPOINTS AWS_USE_DUALSTACK_ENDPOINT AWS_USE_FIPS_ENDPOINT AWS_WEB_IDENTITY_TOKEN_FILE",
  OpenTelemetry:
    "OTEL_ATTRIBUTE_COUNT_LIMIT OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT OTEL_BLRP_SCHEDULE_DELAY OTEL_BSP_EXPORT_TIMEOUT OTEL_BSP_MAX_EXPORT_BATCH_SIZE OTEL_BSP_MAX_QUEUE_SIZE OTEL_BSP_SCHEDULE_DELAY OTEL_CONFIG_FILE OTEL_EXPORTER_OTLP_CERTIFICATE OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE OTEL_EXPORTER_OTLP_CLIENT_KEY OTEL_EXPORTER_OTLP_COMPRESSION OTEL_EXPORTER_OTLP_LOGS_ENDPOINT OTEL_EXPORTER_OTLP_LOGS_HEADERS OTEL_EXPORTER_OTLP_METRICS_ENDPOINT OTEL_EXPORTER_OTLP_METRICS_HEADERS OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE OTEL_EXPORTER_OTLP_PROTOCOL OTEL_EXPORTER_OTLP_TIMEOUT OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_TRACES_HEADERS OTEL_LOG_LEVEL OTEL_METRICS_EXEMPLAR_FILTER OTEL_METRIC_EXPORT_INTERVAL OTEL_METRIC_EXPORT_TIMEOUT OTEL_NODE_DISABLED_INSTRUMENTATIONS OTEL_NODE_ENABLED_INSTRUMENTATIONS OTEL_NODE_RESOURCE_DETECTORS OTEL_PROPAGATORS OTEL_SEMCONV_STABILITY_OPT_IN OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT OTEL_SPAN_EVENT_COUNT_LIMIT OTEL_SPAN_LINK_COUNT_LIMIT"
}

/** What Kubernetes sets for a service, in every container beside it. */
const ofService = (name: string) => [
  `${name}_SERVICE_HOST`,
  `${name}_SERVICE_PORT`,
  `${name}_SERVICE_PORT_HTTP`,
  `${name}_PORT`,
  ...["", "_ADDR", "_PORT", "_PROTO"].map((end) => `${name}_PORT_8080_TCP${end}`)
]

describe("the variables of other programs", () => {
  it.each(Object.entries(ofOthers))("those of %s are not refused", (_, names) => {
    assert.isUndefined(find(names.split(" ")))
  })

  it("those that this process has are not refused", () => {
    assert.isUndefined(find(Object.keys(process.env)))
  })

  it("those that Kubernetes sets for services of usual names are not refused", () => {
    const services = [
      "WAC",
      "AUTH",
      "DATABASE",
      "DB",
      "HOST",
      "LOG",
      "MEDIA",
      "METRICS",
      "OIDC",
      "OTEL",
      "PORTAL",
      "SMTP"
    ]
    assert.isUndefined(find([...services, "POSTGRES", "PUBLIC", "WEBHOOK"].flatMap(ofService)))
  })
})
