/**
 * Our server, as `npm start` runs it, over PostgreSQL and the simulated Cloud API, each in a process of its own.
 */
import { Effect, type Scope } from "effect"
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { because, type BenchFailed } from "./BenchFailed.ts"
import * as Child from "./Child.ts"
import type { Options, Ready } from "./CloudApiProcess.ts"
import * as Dashboard from "./Dashboard.ts"
import type { Cluster, Database } from "./Database.ts"

type Server = Child.Child<{ readonly url: string }>

export interface Simulated {
  readonly database: Database
  readonly provider: Child.Child<Ready>
  /** Starts a server, with more variables than it needs. Several of them share the database. */
  readonly server: (
    environment?: { readonly [variable: string]: string }
  ) => Effect.Effect<Server, BenchFailed, Scope.Scope>
  /** Runs a command of an operator, its words separated by spaces. */
  readonly wac: (command: string) => Effect.Effect<void, BenchFailed>
}

const program = fileURLToPath(new URL("../../apps/server/src/wac.ts", import.meta.url))

/** Limits that sends meet nowhere; the numbers' tiers keep theirs. */
export const limits = {
  workspaceTiers: { standard: 100_000 },
  pair: { everySeconds: 0.001, burst: 1_000_000 }
}

/** Makes the database, and starts the provider. */
export const start = (
  cluster: Cluster,
  { database: name, ...options }: Options & { readonly database: string }
): Effect.Effect<Simulated, BenchFailed, Scope.Scope> =>
  Effect.gen(function*() {
    const database = yield* cluster.database(name)
    const provider = yield* Child.start<Ready>("CloudApiProcess", options satisfies Options)
    const environment = {
      ...Dashboard.environment,
      ...provider.ready.environment,
      PORT: "0",
      DATABASE_URL: database.url,
      LOG_LEVEL: "error",
      WAC_LIMITS: JSON.stringify(limits),
      WAC_MASTER_KEY: randomBytes(32).toString("base64")
    }
    return {
      database,
      provider,
      wac: (command) =>
        Effect.tryPromise({
          try: () =>
            promisify(execFile)(process.execPath, ["--conditions=source", program, ...command.split(" ")], {
              env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...environment }
            }),
          catch: because(command)
        }),
      server: (more) => Child.start<{ readonly url: string }>("ServerProcess", { ...environment, ...more })
    }
  })

/** Signs in as the owner at a server, and makes an API key. */
export const signIn = (
  url: string
): Effect.Effect<{ readonly dashboard: Dashboard.Dashboard; readonly apiKey: string }, BenchFailed> =>
  Effect.gen(function*() {
    const dashboard = yield* Dashboard.signIn(url)
    const { body } = yield* dashboard.ask("POST", "/internal/api-keys", { name: "bench" }, {
      "idempotency-key": "bench"
    })
    return { dashboard, apiKey: String(body["apiKey"]) }
  })
