/**
 * The environment variables of the server (contract §8): their names, and which of them are secret. A secret can also
 * be in a file, whose path is in the variable with `_FILE` after its name: others can often see a process's
 * environment, in the process's description, its children and its crash reports.
 */
import { Retention } from "@wac/core"

/** The description of a variable. */
export interface Description {
  /** Whether its value is secret, or contains a password: then it may come from a file. */
  readonly kind: "plain" | "secret"
  /** The purpose, in `.env.example`. */
  readonly about: string
  /** The value that applies if it is not set. Absent if there is none, or if it depends on something else. */
  readonly default?: string
}

/** Every variable, in groups. */
export const groups = {
  Listening: {
    PORT: { kind: "plain", about: "The port to listen on.", default: "8080" },
    HOST: { kind: "plain", about: "The address to listen on; 0.0.0.0 for all.", default: "127.0.0.1" },
    PUBLIC_URL: {
      kind: "plain",
      about:
        "The address that people and providers use; if omitted, http://HOST:PORT, of all addresses http://localhost:PORT. People sign in only over https, or on the machine itself."
    },
    TRUST_PROXY: { kind: "plain", about: "Networks of proxies whose X-Forwarded-For is trusted: 10.0.0.0/8,192.0.2.1" }
  },
  Storage: {
    DATABASE_URL: {
      kind: "secret",
      about:
        "pglite:DIR (PostgreSQL in the process, durable in DIR), postgres://USER:PASSWORD@HOST/DATABASE, or memory:",
      default: "pglite:.data"
    },
    DATABASE_LISTEN_URL: { kind: "secret", about: "The direct connection to PostgreSQL if DATABASE_URL is a pooler." },
    DATABASE_SCHEMA: {
      kind: "plain",
      about: "The schema of everything in PostgreSQL; if omitted, wac, or public if an earlier version made it there."
    },
    WAC_RESTORED: {
      kind: "plain",
      about: "true for a database that was restored from a backup: campaigns and queued messages wait for a person.",
      default: "false"
    },
    RETENTION: {
      kind: "plain",
      about: "How long each kind of record is kept, in days, as JSON; omitted kinds keep their default.",
      default: JSON.stringify(Retention.standard)
    },
    MEDIA_STORE: {
      kind: "plain",
      about: "Where the bytes of files are: storage, or s3://BUCKET/PREFIX",
      default: "storage"
    },
    MEDIA_INBOUND: {
      kind: "plain",
      about: "When customers' files are downloaded: keep (as they arrive) or on_demand (when first opened).",
      default: "keep"
    },
    AWS_ENDPOINT_URL: { kind: "plain", about: "The address of an S3-compatible store that is not AWS." },
    AWS_REGION: { kind: "plain", about: "The region of the bucket." },
    AWS_ACCESS_KEY_ID: { kind: "secret", about: "The access key; if omitted, as the SDK of AWS finds it." },
    AWS_SECRET_ACCESS_KEY: { kind: "secret", about: "The secret of the access key." },
    AWS_SESSION_TOKEN: { kind: "secret", about: "The token of a temporary access key." }
  },
  "Secrets at rest": {
    WAC_MASTER_KEY: {
      kind: "secret",
      about:
        "32 bytes in base64 (openssl rand -base64 32); required with a PostgreSQL server. Embedded storage makes one."
    },
    WAC_MASTER_KEY_PREVIOUS: { kind: "secret", about: "The key before, while it is being changed." }
  },
  Provider: {
    PROVIDER: {
      kind: "plain",
      about: "sandbox, or whatsapp, which requires the next five variables.",
      default: "sandbox"
    },
    WHATSAPP_ACCESS_TOKEN: { kind: "secret", about: "The token of the app's system user." },
    WHATSAPP_PHONE_NUMBER_ID: { kind: "plain", about: "The id of the first number." },
    WHATSAPP_BUSINESS_ACCOUNT_ID: { kind: "plain", about: "The id of the number's business account." },
    WHATSAPP_APP_SECRET: { kind: "secret", about: "The secret that signs the provider's posts." },
    WHATSAPP_VERIFY_TOKEN: { kind: "secret", about: "The token of the webhook's handshake, of your choice." },
    WHATSAPP_BASE_URL: { kind: "plain", about: "The address of the Cloud API.", default: "https://graph.facebook.com" },
    WHATSAPP_API_VERSION: { kind: "plain", about: "The version of the Cloud API.", default: "v26.0" }
  },
  "First workspace": {
    WAC_OWNER_EMAIL: {
      kind: "plain",
      about: "Creates the first owner without the set-up link, together with WAC_OWNER_PASSWORD."
    },
    WAC_OWNER_PASSWORD: { kind: "secret", about: "The first owner's password." },
    WAC_WORKSPACE_NAME: { kind: "plain", about: "The name of the first workspace.", default: "wac" },
    WAC_SETUP_FILE: { kind: "plain", about: "The file for the set-up link with LOG_FORMAT=json." }
  },
  "Limits and prices": {
    WAC_LIMITS: {
      kind: "plain",
      about: "Tiers and defaults of rate limits and quotas, as JSON; omitted parts keep their defaults.",
      default: "{}"
    },
    WAC_RATE_CARD: { kind: "plain", about: "A CSV file with the provider's prices." }
  },
  "Receivers of events": {
    WEBHOOK_ALLOW_INSECURE: { kind: "plain", about: "true allows http receivers.", default: "false" },
    WEBHOOK_ALLOW_CIDRS: {
      kind: "plain",
      about: "Private networks that receivers may be in: 10.0.0.0/8,192.168.0.0/16"
    }
  },
  People: {
    AUTH: {
      kind: "plain",
      about:
        "local: people have passwords here; oidc: they sign in at an OpenID Connect issuer, which requires the next three variables.",
      default: "local"
    },
    OIDC_ISSUER: { kind: "plain", about: "The address of the issuer." },
    OIDC_CLIENT_ID: { kind: "plain", about: "This service's client at the issuer." },
    OIDC_CLIENT_SECRET: { kind: "secret", about: "The secret of the client." },
    OIDC_ROLE_CLAIM: { kind: "plain", about: "The claim with a person's roles.", default: "wac_roles" },
    SMTP_URL: { kind: "secret", about: "smtp://USER:PASSWORD@HOST:PORT or smtps://…; if omitted, no mail is sent." },
    SMTP_FROM: { kind: "plain", about: "The sender address of mail; if omitted, wac@ and the host of PUBLIC_URL." },
    PORTAL_ORIGINS: {
      kind: "plain",
      about: "Origins whose pages may show the portal in a frame: https://app.example.com,https://eu.example.com"
    },
    SECURITY_CONTACT: {
      kind: "plain",
      about: "Where vulnerabilities are reported, for /.well-known/security.txt: an e-mail address or an https address."
    }
  },
  Watching: {
    ALERT_URL: { kind: "plain", about: "Where alerts are posted for workspaces without an alert URL of their own." },
    METRICS_TOKEN: {
      kind: "secret",
      about:
        "The Bearer token for /metrics; if omitted, only local programs can read it, and none if PUBLIC_URL names another host."
    },
    LOG_FORMAT: { kind: "plain", about: "pretty or json; if omitted, pretty on a terminal, else json." },
    LOG_LEVEL: { kind: "plain", about: "trace, debug, info, warn or error.", default: "info" },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      kind: "plain",
      about: "A collector of traces, metrics and logs: OTLP over HTTP, as JSON. If omitted, nothing is exported."
    },
    OTEL_EXPORTER_OTLP_HEADERS: {
      kind: "secret",
      about: "Headers of each request to the collector: NAME=VALUE, separated by commas, values percent-encoded."
    },
    OTEL_SERVICE_NAME: { kind: "plain", about: "The name of the service there.", default: "wac" },
    OTEL_RESOURCE_ATTRIBUTES: { kind: "plain", about: "More attributes: NAME=VALUE, separated by commas." },
    OTEL_TRACES_SAMPLER: {
      kind: "plain",
      about: "Which traces are collected: always_on, always_off, traceidratio, or one of them after parentbased_",
      default: "parentbased_always_on"
    },
    OTEL_TRACES_SAMPLER_ARG: { kind: "plain", about: "The ratio of traceidratio, from 0 to 1.", default: "1" },
    OTEL_TRACES_EXPORTER: { kind: "plain", about: "otlp, or none for no traces.", default: "otlp" },
    OTEL_METRICS_EXPORTER: { kind: "plain", about: "otlp, or none for no metrics.", default: "otlp" },
    OTEL_LOGS_EXPORTER: { kind: "plain", about: "otlp, or none for no logs.", default: "otlp" },
    OTEL_SDK_DISABLED: { kind: "plain", about: "true switches all of this off.", default: "false" }
  }
} as const satisfies { readonly [group: string]: { readonly [name: string]: Description } }

type Groups = typeof groups

type Described = { [group in keyof Groups]: Groups[group] }[keyof Groups] extends infer group
  ? group extends unknown
    ? { [name in keyof group]: group[name] extends { readonly kind: infer kind } ? [name, kind] : never }[keyof group]
  : never
  : never

/** The name of a variable. */
export type Name = Described[0]

/** The name of a variable whose value is secret. */
export type Secret = Extract<Described, [Name, "secret"]>[0]

const all: ReadonlyMap<string, Description> = new Map(
  Object.values<{ readonly [name: string]: Description }>(groups).flatMap((group) => Object.entries(group))
)

/** The names of all variables. */
export const names: ReadonlyArray<string> = [...all.keys()]

/** Whether the value of a variable is secret. */
export const isSecret = (name: string): name is Secret => all.get(name)?.kind === "secret"

/** The variables whose values are secret, which may come from files. */
export const secrets: ReadonlyArray<Secret> = names.filter(isSecret)

/** The variable that names the file of a secret. */
export const fileOf = (name: string): string => `${name}_FILE`

/** The variables of the server and the operator's commands, with the names for the files of secrets. */
export const ofServer = [...names, ...secrets.map(fileOf)]

/** The variables of the command `mcp`, which is a client of a server. */
export const ofClients = ["WAC_URL", "WAC_API_KEY", fileOf("WAC_API_KEY")]

/** Every name that means something to the server or a command. */
export const known: ReadonlyArray<string> = [...ofServer, ...ofClients]

/** Variables that no longer exist: the value that is still accepted, and what holds without the variable. */
export const removed = {
  RATE_LIMIT_STORE: {
    accepted: "storage",
    holds: "all limits are in the database, and Redis is not used"
  }
}

/** The names of variables that no longer exist. */
export const gone: ReadonlyArray<string> = Object.keys(removed)

/**
 * Those of the names that begin with `WAC_` but are not variables of the server or a command, sorted. They only cause a
 * warning, because platforms inject their own.
 */
export const unknown = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.filter((name) => name.startsWith("WAC_") && !known.includes(name)).sort()
