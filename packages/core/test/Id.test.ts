import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { TestClock } from "effect/testing"
import * as Id from "../src/Id.ts"
import { between, checks } from "./checks.ts"

const kinds = {
  ws: Id.WorkspaceId,
  usr: Id.UserId,
  key: Id.ApiKeyId,
  msg: Id.MessageId,
  pn: Id.PhoneNumberId,
  tpl: Id.TemplateId,
  evt: Id.EventId,
  whk: Id.WebhookId,
  dlv: Id.DeliveryId,
  att: Id.AttemptId,
  req: Id.RequestId,
  job: Id.ReplayId,
  inv: Id.InvitationId,
  ses: Id.SessionId,
  aud: Id.AuditId,
  alr: Id.AlertId,
  cmp: Id.CampaignId,
  med: Id.MediaId,
  psk: Id.PasskeyId
} satisfies { [prefix in keyof Id.ByPrefix]: Schema.Schema<unknown> }
const prefixes = Object.keys(kinds) as ReadonlyArray<keyof Id.ByPrefix>

const generate = (prefix: keyof Id.ByPrefix) => SecureRandom.SecureRandom.use((random) => Id.generate(random, prefix))
const ulid = "01HZXAZ09BY18CX27DW36EV45F"

describe("an identifier", () => {
  it.effect("an identifier has its prefix and a ULID, and is of no other kind", () =>
    Effect.gen(function*() {
      for (const prefix of prefixes) {
        const id = yield* generate(prefix)
        assert.match(id, new RegExp(`^${prefix}_[0-7][0-9A-HJKMNP-TV-Z]{25}$`))
        for (const other of prefixes) {
          assert.strictEqual(Schema.is(kinds[other])(id), other === prefix, `${id} as ${other}`)
        }
      }
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

  it.each([
    "",
    "msg_",
    ulid,
    `key_${ulid}`,
    `MSG_${ulid}`,
    `msg-${ulid}`,
    `msg_${ulid.toLowerCase()}`,
    `msg_${ulid.slice(1)}`,
    `msg_${ulid}0`,
    `msg_8${ulid.slice(1)}`,
    `msg_${ulid.replace("A", "I")}`,
    `msg_${ulid.replace("A", "L")}`,
    `msg_${ulid.replace("A", "O")}`,
    `msg_${ulid.replace("A", "U")}`,
    ` msg_${ulid}`,
    `msg_${ulid}\n`
  ])("%j is not a message's", (text) => {
    assert.isTrue(Schema.is(Id.MessageId)(`msg_${ulid}`))
    assert.isFalse(Schema.is(Id.MessageId)(text))
  })

  it.effect("identifiers of the same millisecond sort in creation order", () =>
    Effect.gen(function*() {
      const ids = yield* Effect.replicateEffect(generate("msg"), 1000)
      assert.deepStrictEqual([...ids].sort(), ids)
      assert.strictEqual(new Set(ids).size, 1000)
    }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

  it.effect.prop(
    "later identifiers sort later",
    { at: between(0, 4_000_000_000_000), later: between(1, 86_400_000) },
    (_) =>
      Effect.gen(function*() {
        yield* TestClock.setTime(_.at)
        const first = yield* generate("msg")
        yield* TestClock.setTime(_.at + _.later)
        const second = yield* generate("msg")
        assert.isTrue(first < second, `${first} < ${second}`)
      }).pipe(Effect.provide(SecureRandom.layerWebCrypto)),
    checks
  )
})
