import { assert, describe, it } from "@effect/vitest"
import { requestPayload, sign, verify } from "@wac/verifier"
import { Effect } from "effect"
import { SecureRandom } from "effect/crypto"
import { deliveryHeaders, generateSecret, requestRefusal, type SignedRequest } from "../../src/keys/Signature.ts"

const secret = "whsec_aZ09bY18cX27dW36eV45fU54gT63hS72iR81jQ90"
const old = "whsec_zzzzyyyyxxxxwwwwvvvvuuuuttttssssrrrrqqqq"
const at = 1_700_000_000
const ascii = "{\"id\":\"evt_01HZX\",\"object\":\"event\",\"type\":\"message.delivered\"}"

it.effect("a secret is whsec_ and 40 base62 characters, and unique", () =>
  Effect.gen(function*() {
    const random = yield* SecureRandom.SecureRandom
    const secrets = yield* Effect.replicateEffect(generateSecret(random), 500)
    for (const one of secrets) assert.match(one, /^whsec_[0-9A-Za-z]{40}$/)
    assert.strictEqual(new Set(secrets).size, 500)
  }).pipe(Effect.provide(SecureRandom.layerWebCrypto)))

describe("the headers of an attempt", () => {
  const headers = (fields: Partial<Parameters<typeof deliveryHeaders>[0]>) =>
    deliveryHeaders({ eventId: "evt_01HZX", body: ascii, secrets: [secret], now: at * 1000, ...fields })

  it.effect("an attempt's headers are of both families, with its time in whole seconds", () =>
    Effect.gen(function*() {
      for (const now of [at * 1000, at * 1000 + 999]) {
        assert.deepStrictEqual(yield* headers({ now }), {
          "content-type": "application/json",
          "X-Service-Signature": `t=${at},v1=ae43e82c80f3239fec28d9eac70bf1c84da9967086b748505ef81a06a27d49cb`,
          "webhook-id": "evt_01HZX",
          "webhook-timestamp": `${at}`,
          "webhook-signature": "v1,OD1kCUlMwa8t/TjUr9NN2qaY+5W8O1sgKsGow5Xu4no="
        })
      }
    }))

  it.effect("the headers sign the bytes of the body", () =>
    Effect.gen(function*() {
      const given = yield* headers({ body: "{\"id\":\"evt_01HZX\",\"object\":\"event\",\"text\":\"olá 👋 é\"}" })
      assert.strictEqual(
        given["X-Service-Signature"],
        `t=${at},v1=c3b90ed55dab31c3e0f8212b9d18a490df1ebe8501ef787ab67d9176de34fe8c`
      )
      assert.strictEqual(given["webhook-signature"], "v1,CZL9CSixEqUrncYvvV/+zV/i01xTgomv1RVNNI2jOs4=")
    }))

  it.effect("the headers have a signature for each secret, in order, while a rotation overlaps", () =>
    Effect.gen(function*() {
      const given = yield* headers({ secrets: [secret, old] })
      assert.strictEqual(
        given["X-Service-Signature"],
        `t=${at},v1=ae43e82c80f3239fec28d9eac70bf1c84da9967086b748505ef81a06a27d49cb,` +
          "v1=843dc0fb95567748680e74925e97327518d7f91e1d1755f9e0e17567ef36d5fc"
      )
      assert.strictEqual(given["webhook-signature"]!.split(" ").length, 2)
      for (const one of [secret, old]) {
        const verified = yield* Effect.promise(() => verify(ascii, given["X-Service-Signature"], one, { now: at }))
        assert.deepStrictEqual(verified, { ok: true, timestamp: at })
      }
    }))
})

describe("a signed request", () => {
  const body = new TextEncoder().encode("{\"to\":\"+5511999999999\",\"text\":\"olá\"}")
  const request: SignedRequest = {
    method: "POST",
    target: "/v1/messages?dry_run=1",
    idempotencyKey: "8e03978e-40d5-43e8-bc93-6894a57f9324",
    body,
    signature: `t=${at},v1=1cf5d2cb7de355c7bbead17cb480a077b56d46709fb2879110cf1df66507fbc2`
  }
  const reason = (
    fields: Partial<SignedRequest>,
    options: { readonly now?: number; readonly required?: boolean } = {}
  ) =>
    Effect.map(
      requestRefusal({ ...request, ...fields }, secret, { now: at * 1000, required: false, ...options }),
      (error) => error?.reason
    )

  it.effect("the test vector verifies", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* reason({}))
      assert.isUndefined(yield* reason({}, { required: true }))
    }))

  it.effect("a request may be unsigned unless the key requires a signature", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* reason({ signature: undefined }))
      assert.strictEqual(yield* reason({ signature: undefined }, { required: true }), "missing_signature")
    }))

  it.effect.each<Partial<SignedRequest>>([
    { method: "PUT" },
    { target: "/v1/messages" },
    { target: "/v1/messages?dry_run=2" },
    { idempotencyKey: "8e03978e-40d5-43e8-bc93-6894a57f9325" },
    { idempotencyKey: undefined },
    { idempotencyKey: "\"8e03978e-40d5-43e8-bc93-6894a57f9324\"" },
    { body: new Uint8Array(0) },
    { body: new TextEncoder().encode("{\"to\":\"+5511999999999\",\"text\":\"ola\"}") },
    { signature: "" },
    { signature: "nonsense" },
    { signature: `t=${at}` },
    { signature: `t=${at},v1=${"0".repeat(64)}` },
    { signature: request.signature!.replace("t=", "t=0") },
    { signature: `${request.signature},t=${at}` }
  ])("with %o is wrong", (fields) =>
    Effect.gen(function*() {
      // a signature that is present must be right, required or not
      assert.strictEqual(yield* reason(fields), "invalid_signature")
      assert.strictEqual(yield* reason(fields, { required: true }), "invalid_signature")
    }))

  it.effect("a signature is valid for 300 seconds in both directions", () =>
    Effect.gen(function*() {
      const after = (seconds: number) => reason({}, { now: (at + seconds) * 1000 })
      assert.isUndefined(yield* after(300))
      assert.isUndefined(yield* after(-300))
      assert.strictEqual(yield* after(301), "stale_signature")
      assert.strictEqual(yield* after(-301), "stale_signature")
    }))

  it.effect("without an Idempotency-Key the signature covers an empty line", () =>
    Effect.gen(function*() {
      const payload = requestPayload({
        method: "DELETE",
        target: "/v1/x",
        idempotencyKey: undefined,
        body: new Uint8Array(0)
      })
      const signature = yield* Effect.promise(() => sign(payload, secret, at))
      const bare = { method: "DELETE", target: "/v1/x", idempotencyKey: undefined, body: new Uint8Array(0), signature }
      assert.isUndefined(yield* reason(bare))
      assert.strictEqual(new TextDecoder().decode(payload), "DELETE\n/v1/x\n\n")
    }))

  it.effect("every error names the header, and never the secret", () =>
    Effect.gen(function*() {
      for (const signature of [undefined, "x", `t=1,v1=${"0".repeat(64)}`]) {
        const error = yield* requestRefusal({ ...request, signature }, secret, { now: at * 1000, required: true })
        assert.strictEqual(error?.param, "X-Service-Signature")
        assert.notInclude(JSON.stringify(error), "whsec_")
      }
    }))
})
