/**
 * The OpenAPI document that is served, as Redocly and Spectral judge it. An exception to a rule of Spectral's is below,
 * with its reason; Redocly has them in `redocly.yaml`.
 */
import { assert, layer } from "@effect/vitest"
import spectral, { type RulesetDefinition } from "@stoplight/spectral-core"
import owasp from "@stoplight/spectral-owasp-ruleset"
import { oas } from "@stoplight/spectral-rulesets"
import { Context, Effect, Layer } from "effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { createRequire } from "node:module"
import * as os from "node:os"
import * as path from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as checks from "../checks.ts"
import { call } from "../harness.ts"

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL("../../../../", import.meta.url))

// its types describe the CommonJS build, which wraps it
const rules = owasp as unknown as RulesetDefinition & { readonly rules: { readonly [name: string]: object } }

/** A rule on sizes and forms, for what comes in only. */
const onRequests = (name: string, type: "string" | "array") => ({
  [name]: {
    ...rules.rules[name],
    given: [
      `$.paths[*][*].requestBody.content[*].schema..[?(@ && @.type=='${type}')]`,
      `$.paths[*][*].parameters[?(@.in != 'query')].schema..[?(@ && @.type=='${type}')]`
    ]
  }
})

const ruleset = {
  extends: [oas, rules],
  rules: {
    // What goes out is ours: a limit there would be a promise that nobody needs. A query is as long as a request's
    // head may be, and is compared with what is stored.
    ...onRequests("owasp:api4:2023-string-limit", "string"),
    ...onRequests("owasp:api4:2023-array-limit", "array"),
    // Names, messages, passwords and URLs are what people make them; what has a form says so.
    "owasp:api4:2023-string-restricted": "off",
    // Keys are server-side secrets (specification §5): no page of another origin may read an answer.
    "owasp:api8:2023-define-cors-origin": "off"
  }
} as RulesetDefinition

const health = /^#\/paths\/\/(healthz|readyz|internal\/sign-in)\//
const signingIn =
  /^#\/paths\/\/internal\/(session|session\/factor|session\/factor\/options|setup|invitations\/(accept|show)|portal|password\/reset|password\/reset-request)\/post\//

/** What Spectral may say, and why. Each must still be said. */
const exceptions: ReadonlyArray<readonly [rule: string, where: RegExp, because: string]> = [
  [
    "owasp:api4:2023-string-limit",
    /\/(name|workspaceName)$/,
    "bounded by its pattern, but for white space around it"
  ],
  ["owasp:api4:2023-string-limit", /\/verify\/.*\/body$/, "bounded by the whole body's 64 KiB"],
  ["owasp:api4:2023-array-limit", /\/eventTypes$/, "as many as the list of types has"],
  ["owasp:api2:2023-read-restricted", health, "supervisors have no key, and who signs in no session"],
  ["owasp:api8:2023-define-error-responses-401", health, "supervisors have no key, and who signs in no session"],
  ["owasp:api8:2023-define-error-validation", health, "there is nothing in the request to be wrong"],
  ["owasp:api4:2023-rate-limit", health, "supervisors must not be turned away"],
  ["owasp:api4:2023-rate-limit-responses-429", health, "supervisors must not be turned away"],
  [
    "owasp:api2:2023-no-credentials-in-url",
    /requests\/get\/parameters\/\d+\/name$/,
    "the id of a key is no credential"
  ],
  ["owasp:api2:2023-write-restricted", signingIn, "who signs in has no session yet"],
  ["owasp:api4:2023-rate-limit", /^#\/paths\/\/internal\//, "sessions are people: limits are on keys and sign-ins"],
  ["owasp:api4:2023-rate-limit-responses-429", /^#\/paths\/\/internal\//, "as above"]
]

/** The document, asked for once: a linter is at work for longer than a kept connection lives. */
class Document
  extends Context.Service<Document, string>()("@wac/server/test/documentation/openapi-lint.test/Document")
{
  static readonly layer = Layer.effect(
    Document,
    Effect.gen(function*() {
      const { url } = yield* checks.Served
      return (yield* call(`${url}/openapi.json`)).text
    })
  ).pipe(Layer.provide(checks.Served.layer()))
}

layer(Document.layer, checks.live)("the served OpenAPI document", (it) => {
  it.effect("Spectral finds no violation in the document, by the OWASP rules", () =>
    Effect.gen(function*() {
      const document = yield* Document
      const linter = new spectral.Spectral()
      linter.setRuleset(ruleset)
      const found = yield* Effect.promise(() => linter.run(document))
      const said = found.map((result) => ({
        rule: String(result.code),
        where: `#/${result.path.join("/")}`,
        message: result.message
      }))
      const excepts = ({ rule, where }: typeof said[number]) =>
        exceptions.filter(([name, place]) => rule === name && place.test(where))
      assert.deepStrictEqual(said.filter((one) => excepts(one).length === 0), [])
      const needed = new Set(said.flatMap(excepts))
      assert.deepStrictEqual(exceptions.filter((exception) => !needed.has(exception)), [])
    }))

  it.effect("Redocly finds no violation in the document", () =>
    Effect.gen(function*() {
      const document = yield* Document
      yield* Effect.promise(async () => {
        const directory = await fs.mkdtemp(path.join(os.tmpdir(), "wac-openapi-"))
        try {
          const file = path.join(directory, "openapi.json")
          await fs.writeFile(file, document)
          await promisify(execFile)(
            process.execPath,
            [require.resolve("@redocly/cli/bin/cli.js"), "lint", file, "--config", "redocly.yaml"],
            // it tells nobody, and asks nobody whether there is a newer one
            { cwd: root, env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" } }
          ).catch((error: { readonly stdout: string; readonly stderr: string }) =>
            assert.fail(`${error.stdout}${error.stderr}`)
          )
        } finally {
          await fs.rm(directory, { recursive: true })
        }
      })
    }))
})
