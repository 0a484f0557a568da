/**
 * Free JSON that a host's own transaction adds to the outbox, past every check of HTTP (contract §16): what no storage
 * holds raises an error in the transaction, and what is too deep is a failed message that says which field it is.
 */
import { assert, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import * as checks from "../checks.ts"
import { hello, ready } from "../harness.ts"
import { freshDatabase, masterKey, postgres, sql } from "../processes.ts"

const flow = (data: string) =>
  `{"to":"+15551234567","type":"interactive","interactive":{"type":"flow","body":{"text":"x"},"action":{"name":"flow",` +
  `"parameters":{"flow_message_version":"3","flow_token":"t","flow_id":"1","flow_cta":"Go","flow_action":"navigate",` +
  `"flow_action_payload":{"screen":"A","data":${data}}}}}}`

const nested = (levels: number) => `${"{\"a\":".repeat(levels)}1${"}".repeat(levels)}`

it.live("deep JSON in the outbox is a failed message with its field, and messages beside it are sent", () =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    const server = yield* ready({ environment: { DATABASE_URL: database, WAC_MASTER_KEY: masterKey() } })
    const workspace = yield* checks.workspaceOf(server)
    const enqueue = (key: string, message: string) =>
      Effect.map(
        sql<{ id: string }>(
          database,
          `select wac.enqueue('${workspace}', '${key}', $json$${message}$json$::jsonb) as id`
        ),
        ([row]) => row!.id
      )
    const good = [yield* enqueue("before", JSON.stringify(hello()))]
    const deep = [yield* enqueue("33", flow(nested(33))), yield* enqueue("3000", flow(nested(3000)))]
    good.push(yield* enqueue("after", JSON.stringify(hello())))
    for (const id of deep) {
      const { body } = yield* checks.untilStatus(server, id, "failed")
      assert.deepInclude(body.error, { code: "invalid_body", reason: "invalid_field" })
      assert.include(body.error.message, "interactive.action.parameters.flow_action_payload.data")
      assert.include(body.error.message, "32 levels")
    }
    for (const id of good) yield* checks.until(checks.stored(server, id), ({ body }) => body.status === "read")

    // PostgreSQL's jsonb takes none of these, so the host's transaction fails and nothing is enqueued
    const refused = ["\"\\u0000\"", "\"\\ud800\"", "\"\\udc00x\"", nested(100_000)]
    for (const [i, data] of refused.entries()) {
      assert.isTrue(
        Exit.isFailure(yield* Effect.exit(enqueue(`refused-${i}`, flow(`{"a":${data}}`)))),
        data.slice(0, 20)
      )
    }
    const [left] = yield* sql<{ entries: number }>(database, "select count(*)::int as entries from wac.outbox")
    assert.strictEqual(left!.entries, good.length + deep.length)
  }).pipe(Effect.scoped))
