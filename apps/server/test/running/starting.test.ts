/**
 * Starting, as those see it who ask from the first moment on.
 */
import { assert, describe, it } from "@effect/vitest"
import { Errors, Readiness } from "@wac/core"
import { CloudApi } from "@wac/simulator"
import * as FreePort from "@wac/testbed/FreePort"
import { Context, Effect, Exit, Fiber, Schedule } from "effect"
import { HttpServer } from "effect/http"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { run } from "../../src/Run.ts"
import { assertError } from "../checks.ts"
import { call, environment, ownPage, start } from "../harness.ts"

const isFailed = (end: Exit.Exit<unknown, unknown> | undefined): boolean => end !== undefined && Exit.isFailure(end)

describe("the start", () => {
  it.live("a starting server accepts no connection before it can respond", () =>
    Effect.gen(function*() {
      const port = yield* Effect.promise(FreePort.find)
      // embedded storage takes its time to open
      const directory = yield* Effect.acquireRelease(
        Effect.promise(() => mkdtemp(join(tmpdir(), "wac-starting-"))),
        (directory) => Effect.promise(() => rm(directory, { recursive: true }))
      )
      const server = yield* Effect.forkChild(
        start({ environment: { PORT: `${port}`, DATABASE_URL: `pglite:${directory}` } })
      )
      const first = yield* Effect.retry(
        Effect.sandbox(call(`http://127.0.0.1:${port}/readyz`)),
        // once it listens it is through with its start, too: only one that has failed is given up
        { while: () => !isFailed(server.pollUnsafe()), schedule: Schedule.spaced("10 millis") }
      )
      assert.strictEqual(first.status, 200)
      // whoever waited for that signs in at once, as a script does
      const signedIn = yield* call(`http://127.0.0.1:${port}/internal/session`, {
        headers: ownPage,
        body: { email: environment.WAC_OWNER_EMAIL, password: environment.WAC_OWNER_PASSWORD }
      })
      assert.strictEqual(signedIn.status, 200, signedIn.text)
      yield* Fiber.join(server)
    }).pipe(Effect.scoped))

  it.live("a server with wrong WhatsApp credentials, number or address is not ready, and reports why", () =>
    Effect.gen(function*() {
      const api = yield* CloudApi.make()
      const { WAC_OWNER_EMAIL: _email, WAC_OWNER_PASSWORD: _password, ...ownerless } = environment
      const wrong = [
        [{ WHATSAPP_ACCESS_TOKEN: "wrong" }, "provider_error"],
        [{ WHATSAPP_PHONE_NUMBER_ID: "1" }, "provider_error"],
        [{ WHATSAPP_BASE_URL: `http://127.0.0.1:${yield* Effect.promise(FreePort.find)}` }, "provider_unavailable"]
      ] as const
      for (const [changed, reason] of wrong) {
        yield* Effect.gen(function*() {
          const { services } = yield* run({ ...ownerless, ...api.environment, ...changed })
          const { address } = Context.get(services, HttpServer.HttpServer)
          const answer = yield* call(`${HttpServer.formatAddress(address)}/readyz`)
          assertError(answer, 502, { code: "server_error", reason })
        }).pipe(Effect.scoped)
      }
    }).pipe(Effect.scoped))

  it.live("a server is ready once every registered condition holds", () =>
    Effect.gen(function*() {
      const { services, url } = yield* start()
      const readiness = Context.get(services, Readiness.Readiness)
      const reason = "provider_unavailable" as const
      const message = "the provider does not know the number"
      yield* readiness.require({ name: "number", check: Effect.fail(new Errors.ServerError({ reason, message })) })
        .pipe(
          Effect.andThen(call(`${url}/readyz`)),
          Effect.map((answer) => {
            assertError(answer, 502, { code: "server_error", reason })
            assert.strictEqual(answer.body.error.message, message)
          }),
          Effect.scoped
        )
      assert.strictEqual((yield* call(`${url}/readyz`)).status, 200)
    }).pipe(Effect.scoped))
})
