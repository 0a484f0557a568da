/**
 * The environment variables of the server and its commands (contract §8): which there are, which of them are secret, and how the text of
 * one is found. A secret can also be in a file, named by the variable's name and `_FILE`: what is in the environment of
 * a process is often seen by more than the process, in its description, its children and reports of its crashes.
 */
import { Effect, Schema } from "effect"
import { readFile } from "node:fs/promises"

/** A variable whose value is missing or invalid. The message names the variable and never its value. */
export class BadVariable extends Schema.TaggedError<BadVariable>()("BadVariable", {
  variable: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `${this.variable}: expected ${this.expected}`
  }
}

/** The variables of a process; an empty variable counts as not set. */
export interface Environment {
  readonly [name: string]: string | undefined
}

/** Every variable of the server. Those that are secret, or contain a password, may come from a file. */
export const kinds = {
  PORT: "plain",
  HOST: "plain",
  PUBLIC_URL: "plain",
  TRUST_PROXY: "plain",
  DATABASE_URL: "secret",
  DATABASE_LISTEN_URL: "secret",
  PROVIDER: "plain",
  WHATSAPP_BASE_URL: "plain",
  WHATSAPP_API_VERSION: "plain",
  WHATSAPP_ACCESS_TOKEN: "secret",
  WHATSAPP_PHONE_NUMBER_ID: "plain",
  WHATSAPP_BUSINESS_ACCOUNT_ID: "plain",
  WHATSAPP_APP_SECRET: "secret",
  WHATSAPP_VERIFY_TOKEN: "secret",
  WAC_MASTER_KEY: "secret",
  WAC_MASTER_KEY_PREVIOUS: "secret",
  WAC_OWNER_EMAIL: "plain",
  WAC_OWNER_PASSWORD: "secret",
  WAC_WORKSPACE_NAME: "plain",
  WAC_SETUP_FILE: "plain",
  WAC_LIMITS: "plain",
  WAC_RATE_CARD: "plain",
  WAC_RESTORED: "plain",
  RATE_LIMIT_STORE: "secret",
  RETENTION: "plain",
  MEDIA_STORE: "plain",
  MEDIA_INBOUND: "plain",
  AWS_ENDPOINT_URL: "plain",
  AWS_REGION: "plain",
  AWS_ACCESS_KEY_ID: "secret",
  AWS_SECRET_ACCESS_KEY: "secret",
  AWS_SESSION_TOKEN: "secret",
  WEBHOOK_ALLOW_INSECURE: "plain",
  WEBHOOK_ALLOW_CIDRS: "plain",
  AUTH: "plain",
  OIDC_ISSUER: "plain",
  OIDC_CLIENT_ID: "plain",
  OIDC_CLIENT_SECRET: "secret",
  OIDC_ROLE_CLAIM: "plain",
  SMTP_URL: "secret",
  SMTP_FROM: "plain",
  ALERT_URL: "plain",
  PORTAL_ORIGINS: "plain",
  SECURITY_CONTACT: "plain",
  METRICS_TOKEN: "secret",
  LOG_FORMAT: "plain",
  LOG_LEVEL: "plain",
  OTEL_EXPORTER_OTLP_ENDPOINT: "plain",
  OTEL_EXPORTER_OTLP_HEADERS: "secret",
  OTEL_SERVICE_NAME: "plain",
  OTEL_RESOURCE_ATTRIBUTES: "plain",
  OTEL_TRACES_SAMPLER: "plain",
  OTEL_TRACES_SAMPLER_ARG: "plain",
  OTEL_TRACES_EXPORTER: "plain",
  OTEL_METRICS_EXPORTER: "plain",
  OTEL_LOGS_EXPORTER: "plain",
  OTEL_SDK_DISABLED: "plain"
} as const

type Kinds = typeof kinds

/** The variables that only commands read, which are clients of a server. */
const ofClients = { WAC_URL: "plain", WAC_API_KEY: "secret" } as const

const all = { ...kinds, ...ofClients }

/** The name of a variable. */
export type Name = keyof typeof all

/** The name of a variable whose value is secret. */
export type Secret = { [name in keyof Kinds]: Kinds[name] extends "secret" ? name : never }[keyof Kinds]

const isSecret = (name: string): boolean => Object.hasOwn(all, name) && all[name as Name] === "secret"

/** The server's variables whose values are secret, which may come from files. */
export const secrets = Object.keys(kinds).filter(isSecret) as ReadonlyArray<Secret>

const fileOf = (name: string): string => `${name}_FILE`

const known = new Set<string>([...Object.keys(all), ...Object.keys(all).filter(isSecret).map(fileOf)])

/**
 * The `WAC_…` names that are no variable of the server or of a command, sorted. They only cause a warning: platforms inject their own.
 */
export const unknown = (names: ReadonlyArray<string>): ReadonlyArray<string> =>
  names.filter((name) => name.startsWith("WAC_") && !known.has(name)).sort()

/** Text without its last line break, which editors and `echo` add. Spaces may be part of a password. */
export const withoutLineBreak = (text: string): string => text.replace(/\r?\n$/, "")

const given = (environment: Environment, name: string): string | undefined =>
  Object.hasOwn(environment, name) && environment[name] !== "" ? environment[name] : undefined

const read = (name: string, path: string) => {
  const bad = (why: string) =>
    new BadVariable({
      variable: fileOf(name),
      expected: `the path of a file with the value of ${name}; ${path} ${why}`
    })
  return Effect.gen(function*() {
    const bytes = yield* Effect.tryPromise({
      try: () => readFile(path),
      catch: (error) => bad(`cannot be read (${(error as NodeJS.ErrnoException).code})`)
    })
    const text = yield* Effect.try({
      try: () => withoutLineBreak(new TextDecoder("utf-8", { fatal: true }).decode(bytes)),
      catch: () => bad("is not UTF-8 text")
    })
    // whoever names a file has a value, and without one a default would apply
    return text === "" ? yield* bad("is empty") : text
  })
}

/**
 * The value of a secret: of the variable, or the content of the file that the variable with `_FILE` names, without its
 * last line break; `undefined` if neither is set. Fails if both are set or the file cannot be used.
 */
export const secret = (environment: Environment, name: string): Effect.Effect<string | undefined, BadVariable> => {
  const [value, path] = [given(environment, name), given(environment, fileOf(name))]
  if (path === undefined) return Effect.succeed(value)
  return value === undefined
    ? read(name, path)
    : Effect.fail(new BadVariable({ variable: `${name}, ${fileOf(name)}`, expected: "only one of them" }))
}

/** The value of a variable, `undefined` if it is not set. */
export const text = (environment: Environment, name: Name): Effect.Effect<string | undefined, BadVariable> =>
  isSecret(name) ? secret(environment, name) : Effect.succeed(given(environment, name))

/** An error about the value of a variable as one about the file that it came from, if it came from one. */
export const located = (environment: Environment, error: BadVariable): BadVariable => {
  const path = given(environment, fileOf(error.variable))
  return isSecret(error.variable) && path !== undefined
    ? new BadVariable({ variable: fileOf(error.variable), expected: `a file with ${error.expected}; it is ${path}` })
    : error
}
