/**
 * Configuration by the environment (contract §8): what each variable takes, what it refuses, and in which words.
 */
import { assert, describe, it } from "@effect/vitest"
import { Limits, Retention } from "@wac/core"
import * as FreePort from "@wac/testbed/FreePort"
import { Context, Effect, Option, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { IpNetwork } from "effect/net"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { vi } from "vitest"
import { run } from "../../src/Run.ts"
import {
  fromEnvironment,
  receiverRulesFromEnvironment,
  type ServerConfig,
  storageConfigFromEnvironment,
  storageFromEnvironment
} from "../../src/ServerConfig.ts"
import * as Variable from "../../src/Variable.ts"
import type { BadVariable } from "../../src/VariableText.ts"
import * as checks from "../checks.ts"
import { call, ownPage, start } from "../harness.ts"

const key = (byte: number) => Buffer.alloc(32, byte).toString("base64")

const mapped = (values: object) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, Redacted.isRedacted(value) ? Redacted.value(value) : value])
  )

/** Part of the configuration as plain data. */
const plain = (config: ServerConfig): { readonly [field: string]: unknown } => ({
  ...config,
  publicUrl: config.publicUrl.href,
  trustedProxies: config.trustedProxies.map((network) => IpNetwork.format(network)),
  storage: config.storage._tag === "Server"
    ? {
      ...config.storage,
      url: Redacted.value(config.storage.url),
      ...(config.storage.listenUrl === undefined ? {} : { listenUrl: Redacted.value(config.storage.listenUrl) })
    }
    : config.storage,
  provider: config.provider._tag === "WhatsApp"
    ? {
      ...config.provider,
      accessToken: Redacted.value(config.provider.accessToken),
      appSecret: Redacted.value(config.provider.appSecret),
      verifyToken: Redacted.value(config.provider.verifyToken)
    }
    : config.provider,
  masterKey: config.masterKey && Buffer.from(Redacted.value(config.masterKey)).toString("base64"),
  previousMasterKey: config.previousMasterKey &&
    Buffer.from(Redacted.value(config.previousMasterKey)).toString("base64"),
  owner: config.owner && { ...config.owner, password: Redacted.value(config.owner.password) },
  ...config.mediaStore?.credentials && {
    mediaStore: { ...config.mediaStore, credentials: mapped(config.mediaStore.credentials) }
  },
  receiverRules: { ...config.receiverRules, allowedCidrs: config.receiverRules.allowedCidrs.length }
})

/** All of the configuration as plain data, with its secrets. */
const revealed = (config: ServerConfig): object =>
  JSON.parse(JSON.stringify(
    [plain(config), config.oidc?.clientSecret, config.mail?.url, config.metricsToken, config.telemetry?.headers].map((
      part
    ) => Redacted.isRedacted(part) ? Redacted.value<unknown>(part) : part ?? null)
  ))

/** What WhatsApp needs. */
const whatsApp = {
  WHATSAPP_ACCESS_TOKEN: "EAAG.token_1",
  WHATSAPP_PHONE_NUMBER_ID: "106540352242922",
  WHATSAPP_BUSINESS_ACCOUNT_ID: "102290129340398",
  WHATSAPP_APP_SECRET: "0123456789abcdef",
  WHATSAPP_VERIFY_TOKEN: "a-word"
}

const whatsAppConfig = {
  _tag: "WhatsApp",
  baseUrl: "https://graph.facebook.com/",
  apiVersion: "v26.0",
  accessToken: "EAAG.token_1",
  phoneNumberId: "106540352242922",
  businessAccountId: "102290129340398",
  appSecret: "0123456789abcdef",
  verifyToken: "a-word"
}

describe("unset variables", () => {
  const defaults = {
    host: "127.0.0.1",
    port: 8080,
    publicUrl: "http://127.0.0.1:8080/",
    isPublicUrlGiven: false,
    trustedProxies: [],
    storage: { _tag: "Embedded", directory: ".data" },
    provider: { _tag: "Sandbox" },
    masterKey: undefined,
    previousMasterKey: undefined,
    owner: undefined,
    setupFile: ".data/setup-link",
    limits: Limits.standard,
    inboundMedia: "keep",
    rateCardFile: undefined,
    retention: Retention.standard,
    receiverRules: { allowInsecure: false, allowedCidrs: 0 },
    logFormat: "json",
    logLevel: "Info",
    telemetry: undefined,
    alertUrl: undefined,
    isRestored: false,
    oidc: undefined,
    mail: undefined,
    metricsToken: undefined,
    portalOrigins: [],
    securityContact: undefined
  }

  it.effect("an unset or empty variable has the contract's default", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(plain(yield* fromEnvironment({})), defaults)
      const names = Variable.names
      const empty = Object.fromEntries(names.map((name) => [name, ""]))
      assert.deepStrictEqual(plain(yield* fromEnvironment(empty)), defaults)
    }))

  it.effect("the defaults of the table of variables are those that apply", () =>
    Effect.gen(function*() {
      const described = Object.values<{ readonly [name: string]: Variable.Description }>(Variable.groups)
        .flatMap((group) => Object.entries(group))
      const given = Object.fromEntries(described.map(([name, { default: value = "" }]) => [name, value]))
      assert.deepStrictEqual(plain(yield* fromEnvironment(given)), defaults)
      const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
      assert.deepStrictEqual(
        revealed(yield* fromEnvironment({ ...given, ...collector })),
        revealed(yield* fromEnvironment(collector))
      )
    }))
})

describe("accepted values", () => {
  const cases: ReadonlyArray<readonly [environment: { readonly [name: string]: string }, part: object]> = [
    [{ PORT: "0" }, { port: 0, publicUrl: "http://127.0.0.1:0/" }],
    [{ PORT: "65535" }, { port: 65_535, publicUrl: "http://127.0.0.1:65535/" }],
    [{ HOST: "0.0.0.0", PORT: "80" }, { host: "0.0.0.0", port: 80, publicUrl: "http://localhost/" }],
    [{ HOST: "::" }, { host: "::", publicUrl: "http://localhost:8080/" }],
    [{ HOST: "::1" }, { host: "::1", publicUrl: "http://[::1]:8080/" }],
    [{ DATABASE_URL: "memory:", PROVIDER: "sandbox", RATE_LIMIT_STORE: "storage" }, {
      storage: { _tag: "Memory" },
      setupFile: undefined
    }],
    [{ PROVIDER: "whatsapp", ...whatsApp }, { provider: whatsAppConfig }],
    [
      {
        PROVIDER: "whatsapp",
        ...whatsApp,
        WHATSAPP_BASE_URL: "http://127.0.0.1:4000",
        WHATSAPP_API_VERSION: "v26.0"
      },
      { provider: { ...whatsAppConfig, baseUrl: "http://127.0.0.1:4000/", apiVersion: "v26.0" } }
    ],
    // set for another day
    [whatsApp, { provider: { _tag: "Sandbox" } }],
    [{ DATABASE_URL: "pglite:/var/lib/wac" }, {
      storage: { _tag: "Embedded", directory: "/var/lib/wac" },
      setupFile: "/var/lib/wac/setup-link"
    }],
    ...["postgres", "postgresql"].map((scheme) =>
      [{ DATABASE_URL: `${scheme}://wac:pw@db:5433/wac`, WAC_MASTER_KEY: key(1) }, {
        storage: { _tag: "Server", url: `${scheme}://wac:pw@db:5433/wac` },
        setupFile: undefined,
        masterKey: key(1)
      }] as const
    ),
    [
      {
        DATABASE_URL: "postgres://wac:pw@db1:5433,db2/wac",
        DATABASE_LISTEN_URL: "postgres://wac:pw@[::1]:5432/wac",
        WAC_MASTER_KEY: key(1)
      },
      {
        storage: {
          _tag: "Server",
          url: "postgres://wac:pw@db1:5433,db2/wac",
          listenUrl: "postgres://wac:pw@[::1]:5432/wac"
        },
        setupFile: undefined,
        masterKey: key(1)
      }
    ],
    [{ WAC_MASTER_KEY: key(1), WAC_MASTER_KEY_PREVIOUS: key(2) }, { masterKey: key(1), previousMasterKey: key(2) }],
    [
      { WAC_OWNER_EMAIL: "o@example.com", WAC_OWNER_PASSWORD: "12345678" },
      { owner: { email: "o@example.com", password: "12345678", workspaceName: "wac" } }
    ],
    [
      { WAC_OWNER_EMAIL: "o@example.com", WAC_OWNER_PASSWORD: "pässword 🔑", WAC_WORKSPACE_NAME: "n".repeat(100) },
      { owner: { email: "o@example.com", password: "pässword 🔑", workspaceName: "n".repeat(100) } }
    ],
    [{ WAC_WORKSPACE_NAME: "Acme" }, { owner: undefined }],
    [{ MEDIA_INBOUND: "on_demand" }, { inboundMedia: "on_demand" }],
    [{ MEDIA_STORE: "storage", AWS_REGION: "eu-central-1" }, {}],
    [{ MEDIA_STORE: "s3://files" }, { mediaStore: { bucket: "files", prefix: "" } }],
    [
      {
        MEDIA_STORE: "s3://files/wac",
        AWS_ENDPOINT_URL: "http://127.0.0.1:9000",
        AWS_REGION: "eu-central-1",
        AWS_ACCESS_KEY_ID: "an-id",
        AWS_SECRET_ACCESS_KEY: "a-secret",
        AWS_SESSION_TOKEN: "a-token"
      },
      {
        mediaStore: {
          bucket: "files",
          prefix: "wac/",
          endpoint: "http://127.0.0.1:9000/",
          region: "eu-central-1",
          credentials: { accessKeyId: "an-id", secretAccessKey: "a-secret", sessionToken: "a-token" }
        }
      }
    ],
    [{ RETENTION: "{\"events\":7,\"bodies\":30}" }, { retention: { ...Retention.standard, events: 7, bodies: 30 } }],
    [{ WAC_LIMITS: "{}" }, { limits: Limits.standard }],
    [
      { WAC_LIMITS: JSON.stringify({ frequencyCap: { messages: 2, days: 7 } }) },
      { limits: { ...Limits.standard, frequencyCap: { messages: 2, days: 7 } } }
    ],
    [
      { WAC_LIMITS: JSON.stringify({ pair: { everySeconds: 1.5, burst: 1 }, defaults: { monthlyQuota: 0 } }) },
      {
        limits: {
          ...Limits.standard,
          pair: { everySeconds: 1.5, burst: 1 },
          defaults: { ...Limits.standard.defaults, monthlyQuota: 0 }
        }
      }
    ],
    [
      { WAC_LIMITS: JSON.stringify({ workspaceTiers: { gold: 0.5 }, defaults: { workspaceTier: "gold" } }) },
      {
        limits: {
          ...Limits.standard,
          workspaceTiers: { gold: 0.5 },
          defaults: { ...Limits.standard.defaults, workspaceTier: "gold" }
        }
      }
    ],
    [
      { WAC_LIMITS: JSON.stringify({ defaults: { mediaQuota: 1024, queuedMessages: null } }) },
      {
        limits: {
          ...Limits.standard,
          defaults: { ...Limits.standard.defaults, mediaQuota: 1024, queuedMessages: null }
        }
      }
    ],
    [{ WEBHOOK_ALLOW_INSECURE: "true" }, { receiverRules: { allowInsecure: true, allowedCidrs: 0 } }],
    [{ WEBHOOK_ALLOW_INSECURE: "false" }, { receiverRules: { allowInsecure: false, allowedCidrs: 0 } }],
    [{ WEBHOOK_ALLOW_CIDRS: "10.0.0.0/8, fd00::/8,::1" }, { receiverRules: { allowInsecure: false, allowedCidrs: 3 } }],
    [{ PUBLIC_URL: "https://wac.example" }, { publicUrl: "https://wac.example/", isPublicUrlGiven: true }],
    [{ TRUST_PROXY: "10.0.0.0/8,::1, 192.0.2.1,fd12::/16," }, {
      trustedProxies: ["10.0.0.0/8", "::1/128", "192.0.2.1/32", "fd12::/16"]
    }],
    [{ LOG_FORMAT: "pretty", LOG_LEVEL: "warn" }, { logFormat: "pretty", logLevel: "Warn" }],
    [{ LOG_FORMAT: "json", LOG_LEVEL: "trace" }, { logFormat: "json", logLevel: "Trace" }],
    [{ SMTP_URL: "smtp://localhost", SMTP_FROM: "ops@example.com" }, {
      mail: { url: Redacted.make("smtp://localhost"), from: "ops@example.com" }
    }],
    [{ PORTAL_ORIGINS: "https://app.example.com, http://localhost:3000" }, {
      portalOrigins: ["https://app.example.com", "http://localhost:3000"]
    }],
    [{ SECURITY_CONTACT: "security@example.com" }, { securityContact: "mailto:security@example.com" }],
    [{ SECURITY_CONTACT: "mailto:security@example.com" }, { securityContact: "mailto:security@example.com" }],
    [{ SECURITY_CONTACT: "https://example.com/report" }, { securityContact: "https://example.com/report" }],
    [{ METRICS_TOKEN: "a.b-c==" }, { metricsToken: Redacted.make("a.b-c==") }],
    [{ OTEL_SERVICE_NAME: "messages", OTEL_TRACES_SAMPLER: "always_off" }, {}],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318", OTEL_SDK_DISABLED: "true" }, {}],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }, {
      telemetry: {
        endpoint: "http://127.0.0.1:4318/",
        headers: Redacted.make({}),
        serviceName: "wac",
        attributes: {},
        sampler: { isParentBased: true, ratio: 1 },
        signals: { traces: true, metrics: true, logs: true }
      }
    }],
    [{
      OTEL_EXPORTER_OTLP_ENDPOINT: "https://collector.example.com/otlp",
      OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b%3D , x-scope=1,",
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,team=a=b",
      OTEL_TRACES_SAMPLER: "traceidratio",
      OTEL_TRACES_SAMPLER_ARG: "0.25",
      OTEL_METRICS_EXPORTER: "none",
      OTEL_LOGS_EXPORTER: "none"
    }, {
      telemetry: {
        endpoint: "https://collector.example.com/otlp",
        headers: Redacted.make({ "api-key": "a b=", "x-scope": "1" }),
        serviceName: "other",
        attributes: { "service.name": "other", team: "a=b" },
        sampler: { isParentBased: false, ratio: 0.25 },
        signals: { traces: true, metrics: false, logs: false }
      }
    }]
  ]

  it.effect.each(cases)("%j", ([environment, part]) =>
    Effect.gen(function*() {
      const before = plain(yield* fromEnvironment({}))
      const config = plain(yield* fromEnvironment(environment))
      assert.deepStrictEqual(Object.fromEntries(Object.keys(part).map((field) => [field, config[field]])), { ...part })
      // and nothing else changes with it
      for (const field of Object.keys(before)) {
        if (!(field in part)) assert.deepStrictEqual(config[field], before[field], field)
      }
    }))
})

describe("refused values", () => {
  /** In every bad value, where it can be: it must not come out again. */
  const secret = "hunter2"

  const cases: ReadonlyArray<readonly [variable: string, values: ReadonlyArray<string>, beside?: object]> = [
    ["PORT", ["-1", "65536", "80.5", "80a", "port", "0x50x", "NaN", "Infinity", "1e9", secret]],
    ["HOST", [
      secret.repeat(40),
      "a\u0000b",
      " ",
      `${secret} b`,
      `http://${secret}`,
      "[::1]",
      `${secret}/x`,
      "a@b",
      "a:b"
    ]],
    ["DATABASE_URL", [`mysql://wac:${secret}@db/wac`, "pglite:", "memory", "memory:x", "MEMORY:", "sqlite:x"]],
    ["DATABASE_URL", [`postgres://wac:${secret}@db:x/wac`, `postgres://wac:${secret}@db1,/wac`]],
    ["DATABASE_LISTEN_URL", [secret, `mysql://wac:${secret}@db/wac`, `postgres://wac:${secret}@db:0/wac`], {
      DATABASE_URL: "postgres://wac@db/wac",
      WAC_MASTER_KEY: key(1)
    }],
    ["PROVIDER", ["WhatsApp", "Sandbox", secret]],
    ["WHATSAPP_BASE_URL", [secret, `ftp://${secret}`], { PROVIDER: "whatsapp", ...whatsApp }],
    ["WHATSAPP_API_VERSION", ["25.0", "v25", "latest", secret], { PROVIDER: "whatsapp", ...whatsApp }],
    ...(["WHATSAPP_ACCESS_TOKEN", "WHATSAPP_APP_SECRET", "WHATSAPP_VERIFY_TOKEN"] as const).map((variable) =>
      [variable, ["", `${secret} ${secret}`, `${secret}\n`], { PROVIDER: "whatsapp", ...whatsApp }] as const
    ),
    ...(["WHATSAPP_PHONE_NUMBER_ID", "WHATSAPP_BUSINESS_ACCOUNT_ID"] as const).map((variable) =>
      [variable, ["", secret, "+15551234567", "12 34"], { PROVIDER: "whatsapp", ...whatsApp }] as const
    ),
    ["RATE_LIMIT_STORE", [`redis://:${secret}@cache`, "redis", "memory", "Storage"]],
    ["RATE_LIMIT_STORE_FILE", [`/run/${secret}`]],
    ["DATABSE_URL", [`postgres://wac:${secret}@db/wac`]],
    ["WHATSAPP_ACESS_TOKEN", [secret], { PROVIDER: "whatsapp", ...whatsApp, WHATSAPP_ACCESS_TOKEN: "" }],
    ["WAC_OWNER_PASSWORD_FIEL", [secret]],
    ["WAC_MASTER_KEY", [
      secret,
      Buffer.alloc(31).toString("base64"),
      Buffer.alloc(33).toString("base64"),
      "0".repeat(64),
      `${key(1)}!`
    ]],
    ["WAC_MASTER_KEY_PREVIOUS", [secret, Buffer.alloc(16).toString("base64")]],
    ["WAC_OWNER_EMAIL", [secret, "a@", "@b", "a b@c", `${"x".repeat(250)}@x.example`], {
      WAC_OWNER_PASSWORD: "a long password"
    }],
    ["WAC_OWNER_PASSWORD", [secret, "p".repeat(257)], { WAC_OWNER_EMAIL: "o@example.com" }],
    ["WAC_WORKSPACE_NAME", [secret.repeat(20)]],
    ["WAC_LIMITS", [
      secret,
      "[]",
      "null",
      "1",
      "{\"unknown\":1}",
      "{\"pair\":{}}",
      "{\"pair\":{\"everySeconds\":6}}",
      "{\"pair\":{\"everySeconds\":0,\"burst\":1}}",
      "{\"pair\":{\"everySeconds\":6,\"burst\":0}}",
      "{\"pair\":{\"everySeconds\":6,\"burst\":1.5}}",
      "{\"pair\":{\"everySeconds\":6,\"burst\":1,\"x\":1}}",
      "{\"pair\":{\"everySeconds\":1e300,\"burst\":1}}",
      "{\"pair\":{\"everySeconds\":6,\"burst\":1e9}}",
      "{\"workspaceTiers\":{\"standard\":-1}}",
      "{\"workspaceTiers\":{\"standard\":1e-300}}",
      "{\"workspaceTiers\":{\"standard\":1e308}}",
      "{\"workspaceTiers\":{\"standard\":\"10\"}}",
      "{\"workspaceTiers\":{\"gold\":10}}",
      "{\"phoneNumberTiers\":{}}",
      `{"defaults":{"workspaceTier":"${secret}"}}`,
      "{\"defaults\":{\"workspaceTier\":\"toString\"}}",
      "{\"defaults\":{\"monthlyQuota\":-1}}",
      "{\"defaults\":{\"messagingLimit\":1.5}}",
      "{\"defaults\":{\"quota\":1}}"
    ]],
    ["WEBHOOK_ALLOW_INSECURE", ["1", "yes", "TRUE", secret]],
    ["WEBHOOK_ALLOW_CIDRS", [secret, "10.0.0.0/33", "10.0.0.0/8 127.0.0.0/8", "10.0.0.0/8;10.1.0.0/16", "300.0.0.0/8"]],
    ["PUBLIC_URL", [
      `${secret}.example.com`,
      `ftp://${secret}`,
      "//wac.example",
      "http://",
      "javascript:alert(1)",
      `https://u:${secret}@wac.example`,
      `https://wac.example/?${secret}`,
      `https://wac.example/#${secret}`
    ]],
    ["TRUST_PROXY", [secret, "10.0.0.0/33", "true", "*", "::1/129", "10.0.0.1/8", "::ffff:10.0.0.0/104"]],
    ["MEDIA_INBOUND", ["always", "KEEP"]],
    ["MEDIA_STORE", ["s3", "s3://", `s3://${secret}@`, "https://files.example.com", `s3://files/${secret}?x`]],
    ["RETENTION", [
      secret,
      "[]",
      "30",
      "{\"events\":0}",
      "{\"events\":1.5}",
      "{\"events\":36501}",
      "{\"events\":null}",
      "{\"messages\":\"400\"}",
      "{\"deliveries\":30}"
    ]],
    ["LOG_FORMAT", ["xml", "JSON", secret]],
    ["LOG_LEVEL", ["loud", "INFO", "off", secret]],
    ["METRICS_TOKEN", ["two words", "a\tb"]],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", [secret, "grpc://collector:4317"]],
    ["OTEL_EXPORTER_OTLP_HEADERS", [secret, "a b=1", "a=%zz", "a=%0d%0ab", "=1"]],
    ["OTEL_RESOURCE_ATTRIBUTES", [secret, "a=%zz"]],
    ["OTEL_TRACES_SAMPLER", [secret, "jaeger_remote"]],
    ["OTEL_TRACES_SAMPLER_ARG", [secret, "1.1", "-1"]],
    ["OTEL_TRACES_EXPORTER", [secret, "zipkin"]],
    ["OTEL_METRICS_EXPORTER", [secret, "prometheus"]],
    ["OTEL_LOGS_EXPORTER", [secret, "console"]],
    ["OTEL_SDK_DISABLED", [secret, "yes"]]
  ]

  it.effect.each([
    ["{\"pair\":{\"everySeconds\":-1,\"burst\":2}}", "pair.everySeconds to be a value between 0.001 and 86400"],
    ["{\"pair\":{\"burst\":1}}", "a part pair.everySeconds"],
    ["{\"workspaceTeirs\":{}}", "no part workspaceTeirs"],
    ["{\"workspaceTiers\":{\"standard\":\"fast\"}}", "workspaceTiers.standard to be number"],
    ["{\"defaults\":{\"phoneNumberTier\":\"fast\"}}", "defaults.phoneNumberTier to be one of phoneNumberTiers"]
  ])("WAC_LIMITS is refused with the wrong part: %s", ([text, part]) =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(fromEnvironment({ DATABASE_URL: "memory:", WAC_LIMITS: text }))
      assert.isTrue(message.startsWith(`WAC_LIMITS: expected ${part}, in JSON such as`), message)
    }))

  it.effect.each(cases)("wrong values of %s are refused", ([variable, values, beside]) =>
    Effect.gen(function*() {
      for (const value of values) {
        const error = yield* Effect.flip(fromEnvironment({ ...beside, [variable]: value }))
        assert.deepStrictEqual([error._tag, error.variable], ["BadVariable", variable], value)
        assert.match(error.message, new RegExp(`^${variable}: expected [^\\n]+$`))
        assert.notInclude(error.message, secret)
        // no other part of what is known of the error says it either
        assert.notInclude(JSON.stringify(error), secret)
      }
    }))

  it.effect("the name of a variable that was probably meant is in the error, for every command that reads a variable", () =>
    Effect.gen(function*() {
      const expected = "DATABSE_URL: expected the name DATABASE_URL, which is not set; " +
        "if DATABSE_URL is right, set DATABASE_URL too"
      for (const DATABASE_URL of [undefined, ""]) {
        const environment = { DATABSE_URL: "postgres://wac:hunter2@db/wac", ...DATABASE_URL === "" && { DATABASE_URL } }
        for (
          const read of [
            fromEnvironment,
            storageConfigFromEnvironment,
            storageFromEnvironment,
            receiverRulesFromEnvironment
          ]
        ) {
          const { message } = yield* Effect.flip(Effect.asVoid<unknown, BadVariable, never>(read(environment)))
          assert.strictEqual(message, expected)
        }
      }
      const both = { DATABASE_URL: "memory:", DATABSE_URL: "postgres://wac:hunter2@db/wac", WHATSAPP_ACESS_TOKEN: "" }
      assert.strictEqual((yield* storageFromEnvironment(both))._tag, "Memory")
    }))

  it.effect("a name that is nearly a variable of `wac mcp` is no concern of the server", () =>
    Effect.gen(function*() {
      const { storage } = yield* fromEnvironment({ DATABASE_URL: "memory:", WAC_API_KEY2: "wac_live_x" })
      assert.strictEqual(storage._tag, "Memory")
    }))

  it.effect("a variable that is gone is refused with what holds in its place", () =>
    Effect.gen(function*() {
      const { message } = yield* Effect.flip(fromEnvironment({ RATE_LIMIT_STORE: "redis://cache" }))
      assert.strictEqual(
        message,
        "RATE_LIMIT_STORE: expected no value: this variable is gone, because all limits are in the database, and Redis is not used"
      )
    }))

  it.effect("if only one of the owner's variables is set, the error names the missing one", () =>
    Effect.gen(function*() {
      const password = yield* Effect.flip(fromEnvironment({ WAC_OWNER_EMAIL: "o@example.com" }))
      assert.strictEqual(password.variable, "WAC_OWNER_PASSWORD")
      const email = yield* Effect.flip(fromEnvironment({ WAC_OWNER_PASSWORD: "hunter2 hunter2" }))
      assert.strictEqual(email.variable, "WAC_OWNER_EMAIL")
      assert.notInclude(email.message, "hunter2")
    }))

  it.effect("a key of the object store needs its secret, and its endpoint is a URL", () =>
    Effect.gen(function*() {
      const MEDIA_STORE = "s3://files"
      const keyless = yield* Effect.flip(fromEnvironment({ MEDIA_STORE, AWS_ACCESS_KEY_ID: "an-id" }))
      assert.strictEqual(keyless.variable, "AWS_SECRET_ACCESS_KEY")
      const nowhere = yield* Effect.flip(fromEnvironment({ MEDIA_STORE, AWS_ENDPOINT_URL: "files.example.com" }))
      assert.strictEqual(nowhere.variable, "AWS_ENDPOINT_URL")
    }))

  it.live("an invalid value makes the start fail", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(run({ PORT: "0", WAC_LIMITS: "{" }))
      assert.strictEqual(error._tag, "BadVariable")
      const first = yield* start()
      const { port } = new URL(first.url)
      const taken = yield* Effect.flip(run({ PORT: port, DATABASE_URL: "memory:", LOG_LEVEL: "error" }))
      assert.strictEqual(taken.message, `PORT, HOST: cannot listen on 127.0.0.1:${port} (EADDRINUSE)`)
    }).pipe(Effect.scoped))
})

describe("the public address", () => {
  const onTerminal = { DATABASE_URL: "memory:", LOG_FORMAT: "pretty", LOG_LEVEL: "error" }

  it.live.each([
    ["https://wac.example", "https://wac.example"],
    ["https://example.com/wac/", "https://example.com/wac"]
  ])("%s stands before what the terminal says", ([PUBLIC_URL, shown]) =>
    Effect.gen(function*() {
      // with PORT 0 only the port is shown that was found
      const port = yield* Effect.promise(FreePort.find)
      const { guide } = yield* run({ ...onTerminal, PORT: `${port}`, PUBLIC_URL })
      assert.strictEqual(guide?.publicUrl, shown)
    }).pipe(Effect.scoped))

  it.live("if the server listens on all addresses, the printed commands use a local address", () =>
    Effect.gen(function*() {
      const port = `${yield* Effect.promise(FreePort.find)}`
      for (const PORT of ["0", port]) {
        const { guide } = yield* run({ ...onTerminal, HOST: "0.0.0.0", PORT })
        const listening = guide?.listening ?? ""
        assert.match(listening, /^http:\/\/0\.0\.0\.0:/)
        assert.strictEqual(guide?.publicUrl, listening.replace("0.0.0.0", "localhost"))
      }
    }).pipe(Effect.scoped))
})

describe("secrets from files", () => {
  /** What each secret takes, and what has it read. */
  const secrets: { readonly [name in Variable.Secret]: readonly [value: string, beside?: object] } = {
    DATABASE_URL: ["postgres://wac:hunter2@db/wac", { WAC_MASTER_KEY: key(1) }],
    DATABASE_LISTEN_URL: ["postgres://wac:hunter2@db1/wac", {
      DATABASE_URL: "postgres://wac@db/wac",
      WAC_MASTER_KEY: key(1)
    }],
    WHATSAPP_ACCESS_TOKEN: ["hunter2", { PROVIDER: "whatsapp", ...whatsApp }],
    WHATSAPP_APP_SECRET: ["hunter2", { PROVIDER: "whatsapp", ...whatsApp }],
    WHATSAPP_VERIFY_TOKEN: ["hunter2", { PROVIDER: "whatsapp", ...whatsApp }],
    WAC_MASTER_KEY: [key(3)],
    WAC_MASTER_KEY_PREVIOUS: [key(4)],
    WAC_OWNER_PASSWORD: [" hunter2 hunter2 ", { WAC_OWNER_EMAIL: "o@example.com" }],
    AWS_ACCESS_KEY_ID: ["hunter2", { MEDIA_STORE: "s3://files", AWS_SECRET_ACCESS_KEY: "a-secret" }],
    AWS_SECRET_ACCESS_KEY: ["hunter2", { MEDIA_STORE: "s3://files", AWS_ACCESS_KEY_ID: "an-id" }],
    AWS_SESSION_TOKEN: ["hunter2", {
      MEDIA_STORE: "s3://files",
      AWS_ACCESS_KEY_ID: "an-id",
      AWS_SECRET_ACCESS_KEY: "a-secret"
    }],
    OIDC_CLIENT_SECRET: ["hunter2", {
      AUTH: "oidc",
      OIDC_ISSUER: "https://issuer.example.com",
      OIDC_CLIENT_ID: "wac"
    }],
    SMTP_URL: ["smtp://wac:hunter2@mail"],
    METRICS_TOKEN: ["hunter2"],
    OTEL_EXPORTER_OTLP_HEADERS: ["authorization=hunter2", { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }]
  }
  const cases = Object.entries(secrets).map(([name, [value, beside = {}]]) =>
    [
      name as Variable.Secret,
      value,
      { ...beside, [name]: "" }
    ] as const
  )

  const directory = Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "wac-secrets-"))),
    (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
  )

  const fileOf = Effect.fnUntraced(function*(content: string | Uint8Array) {
    const path = join(yield* directory, "secret")
    writeFileSync(path, content)
    return path
  })

  it("the variables that may come from a file are those that are secret", () => {
    assert.sameMembers([...Variable.secrets], Object.keys(secrets))
  })

  it.effect.each(cases)(
    "%s_FILE names a file whose content, without its last line break, is the value",
    (each) =>
      Effect.gen(function*() {
        const [name, value, beside] = each
        const direct = revealed(yield* fromEnvironment({ ...beside, [name]: value }))
        assert.notDeepEqual(yield* Effect.option(Effect.map(fromEnvironment(beside), revealed)), Option.some(direct))
        for (const end of ["", "\n", "\r\n"]) {
          const path = yield* fileOf(value + end)
          assert.deepStrictEqual(revealed(yield* fromEnvironment({ ...beside, [`${name}_FILE`]: path })), direct)
        }
      })
  )

  it.effect("all but the last line break of a file is part of the value", () =>
    Effect.gen(function*() {
      const path = yield* fileOf(" hunter2\n hunter2 \n\n")
      const { owner } = yield* fromEnvironment({ WAC_OWNER_EMAIL: "o@example.com", WAC_OWNER_PASSWORD_FILE: path })
      assert.strictEqual(Redacted.value(owner!.password), " hunter2\n hunter2 \n")
    }))

  it.effect.each(cases)(
    "%s together with its file is refused, naming both",
    ([name, value, beside]) =>
      Effect.gen(function*() {
        const path = yield* fileOf(value)
        const error = yield* Effect.flip(fromEnvironment({ ...beside, [name]: value, [`${name}_FILE`]: path }))
        assert.strictEqual(error.message, `${name}, ${name}_FILE: expected only one of them`)
      })
  )

  it.effect.each(cases)(
    "%s_FILE of a file that is missing, unreadable, empty or not text is refused",
    (each) =>
      Effect.gen(function*() {
        const [name, , beside] = each
        const refusal = Effect.fnUntraced(function*(path: string) {
          const error = yield* Effect.flip(fromEnvironment({ ...beside, [`${name}_FILE`]: path }))
          assert.strictEqual(error.variable, `${name}_FILE`)
          return error.message
        })
        const start = `${name}_FILE: expected the path of a file with the value of ${name};`
        const folder = yield* directory
        const missing = join(folder, "missing")
        assert.strictEqual(yield* refusal(missing), `${start} ${missing} cannot be read (ENOENT)`)
        assert.strictEqual(yield* refusal(folder), `${start} ${folder} cannot be read (EISDIR)`)
        for (const content of ["", "\n"]) {
          const path = yield* fileOf(content)
          assert.strictEqual(yield* refusal(path), `${start} ${path} is empty`)
        }
        const path = yield* fileOf(Uint8Array.of(0x68, 0xff))
        assert.strictEqual(yield* refusal(path), `${start} ${path} is not UTF-8 text`)
      })
  )

  it.effect("a value in a file that cannot be used is refused with the variable, the path, and nothing of the content", () =>
    Effect.gen(function*() {
      for (
        const [name, content, beside] of [
          ["WAC_MASTER_KEY", "hunter2", {}],
          ["DATABASE_URL", "postgres://wac:hunter2@db:x/wac", {}],
          ["WAC_OWNER_PASSWORD", "hunter2", { WAC_OWNER_EMAIL: "o@example.com" }],
          ["METRICS_TOKEN", "hunter2 hunter2", {}]
        ] as const
      ) {
        const path = yield* fileOf(content)
        const error = yield* Effect.flip(fromEnvironment({ ...beside, [`${name}_FILE`]: path }))
        assert.strictEqual(error.variable, `${name}_FILE`)
        assert.match(error.message, /^\w+: expected a file with [^\n]+$/)
        assert.include(error.message, path)
        assert.notInclude(JSON.stringify(error) + error.message, "hunter2")
      }
    }))

  it.effect("the file of a variable that a command does not need is not read", () =>
    Effect.gen(function*() {
      const environment = { DATABASE_URL: "memory:", WAC_MASTER_KEY_FILE: "/nowhere" }
      assert.strictEqual((yield* storageFromEnvironment(environment))._tag, "Memory")
    }))
})

describe("unknown variables", () => {
  it("an unknown WAC_… name is reported", () => {
    assert.deepStrictEqual(
      Variable.unknown(["WAC_ZONE", "PATH", "WAC_LIMITS", "WAC_OWNER_EMIAL", "wac_x", "XWAC_Y", "PORT", "WAC_"]),
      ["WAC_", "WAC_OWNER_EMIAL", "WAC_ZONE"]
    )
    assert.deepStrictEqual(
      Variable.unknown([
        "WAC_MASTER_KEY",
        "WAC_MASTER_KEY_PREVIOUS",
        "WAC_OWNER_EMAIL",
        "WAC_OWNER_PASSWORD",
        "WAC_WORKSPACE_NAME",
        "WAC_LIMITS",
        "WAC_MASTER_KEY_FILE"
      ]),
      []
    )
    // only secrets come from files
    assert.deepStrictEqual(Variable.unknown(["WAC_OWNER_EMAIL_FILE"]), ["WAC_OWNER_EMAIL_FILE"])
  })

  it.live("an unknown variable only causes a warning, without its value", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const spy = vi.spyOn(console, "log").mockImplementation((line) => {
        lines.push(line)
      })
      const server = yield* start({
        environment: { WAC_OWNERS_EMIAL: "hunter2", WAC_ZONE: "hunter2", LOG_LEVEL: "warn" }
      }).pipe(Effect.ensuring(Effect.sync(() => spy.mockRestore())))
      assert.strictEqual((yield* call(`${server.url}/healthz`)).status, 200)
      const warnings = lines.map((line) => JSON.parse(line)).filter(({ message }) => `${message}`.startsWith("WAC_"))
      assert.deepStrictEqual(warnings.map(({ level, message }) => [level, message]), [
        ["WARN", "WAC_OWNERS_EMIAL is not a variable of this service"],
        ["WARN", "WAC_ZONE is not a variable of this service"]
      ])
      assert.notInclude(lines.join("\n"), "hunter2")
    }).pipe(Effect.scoped))
})

describe("the configuration in effect", () => {
  it.live("PORT=0 listens on a free port, and HOST is the address", () =>
    Effect.gen(function*() {
      const { services, url } = yield* start({ environment: { HOST: "localhost" } })
      const { address } = Context.get(services, HttpServer.HttpServer)
      assert.match(HttpServer.formatAddress(address), /^http:\/\/(127\.0\.0\.1|\[::1\]):[1-9]\d*$/)
      assert.strictEqual((yield* call(`${url}/healthz`)).status, 200)
    }).pipe(Effect.scoped))

  it.live("the environment's owner can sign in, with any case of the e-mail address", () =>
    Effect.gen(function*() {
      const password = "pässword 🔑"
      const { url } = yield* start({
        environment: {
          WAC_OWNER_EMAIL: "Someone@Example.com",
          WAC_OWNER_PASSWORD: password,
          WAC_WORKSPACE_NAME: "Acme"
        }
      })
      const answer = yield* call(`${url}/internal/session`, {
        headers: ownPage,
        body: { email: "someone@example.com", password }
      })
      assert.strictEqual(answer.status, 200, answer.text)
      const { userId: _, workspaceId: __, ...rest } = answer.body
      assert.deepStrictEqual(rest, { email: "someone@example.com", role: "owner", workspaceName: "Acme" })
    }).pipe(Effect.scoped))

  it.live("WEBHOOK_ALLOW_INSECURE and WEBHOOK_ALLOW_CIDRS are off by default", () =>
    Effect.gen(function*() {
      const put = Effect.fnUntraced(function*(environment: { readonly [name: string]: string }, address: string) {
        const { url } = yield* start({ environment })
        const signedIn = yield* call(`${url}/internal/session`, {
          headers: ownPage,
          body: { email: "owner@example.com", password: "correct horse battery" }
        })
        return yield* call(`${url}/internal/webhook`, {
          method: "PUT",
          headers: { ...ownPage, cookie: signedIn.headers.getSetCookie()[0]!.split(";")[0]! },
          body: { url: address }
        })
      })
      const off = { WEBHOOK_ALLOW_INSECURE: "", WEBHOOK_ALLOW_CIDRS: "" }
      for (
        const [environment, address] of [
          [off, "http://93.184.216.34/"],
          [off, "https://127.0.0.1/"],
          [{ ...off, WEBHOOK_ALLOW_INSECURE: "true" }, "http://127.0.0.1/"],
          [{ ...off, WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" }, "http://127.0.0.1/"]
        ] as const
      ) checks.assertInvalid(yield* put(environment, address), "invalid_field", "url")
      assert.strictEqual((yield* put({ ...off, WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8" }, "https://127.0.0.1/")).status, 200)
    }).pipe(Effect.scoped))
})
