/**
 * What somebody finds who has the whole database (contract §5 *At rest*), and not the master key.
 */
import { assert, it } from "@effect/vitest"
import { PhoneNumberStore, SenderCredentials } from "@wac/core"
import { requestPayload, sign, SIGNATURE_HEADER } from "@wac/verifier"
import { Context, Effect, Redacted } from "effect"
import { workspaceOf } from "../checks.ts"
import { call, createKey, environment, hello, ready, receiver, send, setWebhook } from "../harness.ts"
import { freshDatabase, masterKey, postgres, withKey } from "../processes.ts"
import { everything, written } from "./everything.ts"

it.live("the database contains no usable secret", () =>
  Effect.gen(function*() {
    const database = yield* Effect.flatMap(postgres, freshDatabase)
    const master = masterKey()
    const server = yield* ready({ environment: { DATABASE_URL: database, WAC_MASTER_KEY: master } })
    const { services, session, url } = server
    const ask = (path: string, body: unknown) => call(`${url}/internal${path}`, { headers: session, body })

    const key = yield* createKey(url, session, { name: "signs", requireSignature: true })
    const customer = yield* receiver
    const webhook = yield* setWebhook(server, { url: customer.url })
    const { body: rotated } = yield* ask("/webhook/rotate-secret", {})
    const body = JSON.stringify(hello())
    const payload = requestPayload({ method: "POST", target: "/v1/messages", idempotencyKey: "signed", body })
    const signature = yield* Effect.promise(() => sign(payload, key.signingSecret))
    const sent = yield* send({ url, key }, body, { ...withKey("signed"), [SIGNATURE_HEADER]: signature })
    assert.strictEqual(sent.status, 200, sent.text)
    const [delivered] = yield* customer.take(3)

    const workspaceId = yield* workspaceOf(server)
    const [number] = yield* Context.get(services, PhoneNumberStore.PhoneNumberStore).list(workspaceId)
    const accessToken = "EAAG-an-access-token-of-its-own"
    yield* Context.get(services, SenderCredentials.SenderCredentials)
      .set(number!.id, { accessToken: Redacted.make(accessToken) })

    const all = yield* everything(database)
    // it is all of it
    for (const known of [sent.body.message_id, delivered!.event.id, webhook.id, key.id, number!.id]) {
      assert.include(all, known)
    }
    const secrets = [
      master,
      environment.WAC_OWNER_PASSWORD,
      session.cookie.split("=")[1]!,
      accessToken,
      // their prefixes may be known
      ...[server.key, key].flatMap(({ apiKey, signingSecret }) => [apiKey.slice(13), signingSecret.slice(6)]),
      webhook.signingSecret.slice(6),
      rotated.signingSecret.slice(6),
      signature.slice(signature.indexOf("v1=") + 3),
      delivered!.headers[SIGNATURE_HEADER.toLowerCase()]!.slice(-64)
    ]
    for (const secret of secrets) {
      assert.isAbove(secret.length, 15)
      for (const text of written(secret)) assert.notInclude(all, text)
    }
  }).pipe(Effect.scoped, Effect.orDie))
