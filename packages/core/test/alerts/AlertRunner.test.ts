import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import * as AlertRunner from "../../src/alerts/AlertRunner.ts"
import { AlertStore } from "../../src/alerts/AlertStore.ts"
import { ApiKeys } from "../../src/keys/ApiKeys.ts"
import { ApiKeyStore } from "../../src/keys/ApiKeyStore.ts"
import { type Mail, Mailer, MailFailed } from "../../src/people/Mailer.ts"
import { day, hour, minute } from "../checks.ts"
import { advance } from "../clock.ts"
import { start } from "../samples.ts"
import { scheduling } from "../scheduling.ts"
import { key, world } from "../world.ts"

/** A server that looks for problems, and the subjects of the mail that it sends. */
const server = (sent: Array<string>) =>
  Layer.build(
    Layer.fresh(AlertRunner.layer).pipe(
      Layer.provide(Layer.succeed(Mailer, { send: ({ subject }) => Effect.sync(() => void sent.push(subject)) }))
    )
  )

/** A workspace whose alerts are mailed, with a key that expires. */
const expiring = Effect.fnUntraced(function*(expiresAt: number) {
  const { workspace } = yield* world()
  yield* AlertStore.use((alerts) => alerts.configure(workspace.id, { emails: ["ana@example.com"], url: null }))
  const { key: issued } = yield* ApiKeys.use((keys) =>
    keys.issue({
      workspaceId: workspace.id,
      name: "orders",
      expiresAt,
      requireSignature: false,
      scopes: undefined,
      caller: "somebody",
      idempotencyKey: key("k")
    })
  )
  return { issued, workspace }
})

it.effect(
  "an alert whose process stops before its mail is sent is mailed by another, and a refused mail is sent again",
  scheduling(() =>
    Effect.gen(function*() {
      const { issued } = yield* expiring(start + 29 * day)
      yield* ApiKeyStore.use((store) => store.touch(new Map([[issued.id, start]])))
      const serve = (mailer: NonNullable<typeof Mailer.Service>) =>
        Layer.build(Layer.fresh(AlertRunner.layer).pipe(Layer.provide(Layer.succeed(Mailer, mailer))))
      // the first one's mail server does not answer
      let tries = 0
      const silent = { send: () => Effect.andThen(Effect.sync(() => tries++), Effect.never) }
      yield* Effect.scoped(Effect.andThen(serve(silent), advance(minute)))
      assert.strictEqual(tries, 1)
      const sent: Array<string> = []
      let refusals = 0
      const refusing = {
        send: ({ subject }: Mail) =>
          refusals++ === 0
            ? Effect.fail(new MailFailed({ message: "busy" }))
            : Effect.sync(() => void sent.push(subject))
      }
      yield* Effect.scoped(Effect.andThen(serve(refusing), advance(10 * minute)))
      assert.lengthOf(sent, 1)
      assert.match(sent[0]!, /^Alert: The API key orders/)
    })
  )
)

it.effect(
  "a key in use is told of 30, 7 and 1 days before it expires, once each, whichever of several servers notices",
  scheduling(() =>
    Effect.gen(function*() {
      const { issued, workspace } = yield* expiring(start + 40 * day)
      const sent: Array<string> = []
      const alerts = yield* AlertStore
      const opened = Effect.map(
        alerts.list(workspace.id, { open: true }, { limit: 10, after: null }),
        ({ items }) => items.map(({ kind }) => kind)
      )
      const use = (at: number) => ApiKeyStore.use((store) => store.touch(new Map([[issued.id, at]])))
      /** Two servers start after this time, look twice, and stop. */
      const later = (time: number) =>
        Effect.andThen(
          advance(time),
          Effect.scoped(Effect.andThen(Effect.all([server(sent), server(sent)]), advance(2 * minute)))
        )

      yield* later(11 * day)
      assert.deepStrictEqual(yield* opened, [], "the key was never used")
      yield* use(start + 11 * day)
      yield* later(hour)
      assert.deepStrictEqual(yield* opened, ["key_expires_in_30_days"])
      yield* later(20 * day)
      assert.deepStrictEqual(yield* opened, ["key_expires_in_30_days"])
      yield* later(2 * day)
      assert.deepStrictEqual(yield* opened, ["key_expires_in_7_days", "key_expires_in_30_days"])
      yield* later(6 * day)
      assert.deepStrictEqual(yield* opened, ["key_expires_in_1_day", "key_expires_in_7_days", "key_expires_in_30_days"])
      assert.lengthOf(sent, 3)
      assert.isTrue(sent.every((subject) => subject.startsWith("Alert: The API key orders (wac_live_")))
      yield* later(day)
      assert.deepStrictEqual(yield* opened, [])
      assert.lengthOf(sent, 6)
    })
  )
)
