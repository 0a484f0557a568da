import { MemoryStorage } from "@wac/memory"
import { Effect, Layer, Scope } from "effect"
import { assert, it } from "vitest"
import { Adapter } from "../../src/index.ts"
import { type Auth, local, type Wac } from "../../src/promises.ts"
import { start } from "../instance.ts"

const owner = { email: "ana@shop.example", password: "correct horse" }

/** Sessions of a host, whose only person is an owner. */
const hosted: Auth = { session: () => ({ userId: "1", email: "ana@shop.example", role: "owner" }) }

const ask = async ({ handler }: Wac, method: string, path: string, body?: unknown, cookie = "") => {
  const response = await handler(
    new Request(`https://shop.example/internal${path}`, {
      method,
      headers: {
        "content-type": "application/json",
        "sec-fetch-site": "same-origin",
        "idempotency-key": crypto.randomUUID(),
        cookie
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) })
    })
  )
  return { status: response.status, body: await response.json(), cookies: response.headers.getSetCookie() }
}

/** What an instance that has no invitations responds. */
const assertElsewhere = ({ body, status }: Awaited<ReturnType<typeof ask>>) => {
  assert.strictEqual(status, 404, JSON.stringify(body))
  assert.include(body.error.message, "the application that embeds this service")
}

it("a host with its own sessions has no invitations, and an invitation from before is neither shown nor used up", async () => {
  // one storage for both, as a database would be
  const services = await Effect.runPromise(
    Effect.flatMap(Scope.make(), (scope) => Layer.buildWithScope(MemoryStorage.layer, scope))
  )
  const shared = { storage: Adapter.storage(Layer.succeedContext(services)), masterKey: new Uint8Array(32) }
  const before = await start({ ...shared, auth: local({ owner }) })
  const signedIn = await ask(before.wac, "POST", "/session", owner)
  const cookie = signedIn.cookies[0]!.split(";")[0]!
  const ben = { email: "ben@shop.example", role: "member" }
  const invited = await ask(before.wac, "POST", "/members", ben, cookie)
  assert.strictEqual(invited.status, 201, JSON.stringify(invited.body))
  const token = new URL(invited.body.inviteUrl).hash.slice("#token=".length)

  const { wac } = await start({ ...shared, auth: hosted })
  const acceptance = { token, password: "a horse of another colour" }
  const people = async () => {
    const { body } = await ask(wac, "GET", "/members")
    return body.data.map(({ email, status }: { email: string; status: string }) => [email, status])
  }
  const all = [[owner.email, "active"], [ben.email, "invited"]]
  assert.deepStrictEqual(await people(), all)
  assertElsewhere(await ask(wac, "POST", "/members", { ...ben, email: "cleo@shop.example" }))
  assertElsewhere(await ask(wac, "POST", "/invitations/show", { token }))
  assertElsewhere(await ask(wac, "POST", "/invitations/accept", acceptance))
  assert.deepStrictEqual(await people(), all)

  const accepted = await ask(before.wac, "POST", "/invitations/accept", acceptance)
  assert.deepStrictEqual([accepted.status, accepted.body.email], [200, ben.email])
})
