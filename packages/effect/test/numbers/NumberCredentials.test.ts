import { CloudApi } from "@wac/simulator"
import { Effect, Exit, Scope } from "effect"
import { assert, it } from "vitest"
import { whatsapp } from "../../src/promises.ts"
import { closing, failure, fresh, hello, startLive } from "../instance.ts"

/** A simulated Cloud API for the rest of the test. */
const simulator = async (): Promise<CloudApi.CloudApi> => {
  const scope = Scope.makeUnsafe()
  closing(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return Effect.runPromise(CloudApi.make({}).pipe(Effect.provideService(Scope.Scope, scope)))
}

it("a number added with an access token of its own sends with it, and with a new one once it is changed", async () => {
  const api = await simulator()
  const { account, accessToken, appSecret, numbers: [configured, further = configured], verifyToken } = api.identity
  const wac = await startLive({
    provider: whatsapp({
      accessToken,
      phoneNumberId: configured.id,
      businessAccountId: account,
      appSecret,
      verifyToken,
      baseUrl: api.url,
      apiVersion: "v25.0"
    })
  })
  await Effect.runPromise(api.acceptTokens(["of-its-own"]))
  const { id: workspaceId } = await wac.workspaces.create({
    name: "Second shop",
    phoneNumber: `+${further.display.replace(/\D/g, "")}`,
    providerNumberId: further.id,
    providerAccountId: account,
    credentials: { accessToken: "of-its-own" }
  })
  const shop = wac.workspace(workspaceId)
  await shop.templates.sync()
  assert.strictEqual((await shop.messages.send(hello(), fresh())).status, "sent")
  assert.deepInclude((await failure(wac.messages.send(hello(), fresh()))).provider, { code: "190" })

  const [number] = (await shop.phoneNumbers.list().page()).data
  await shop.phoneNumbers.setCredentials(number!.id, { accessToken: "wrong" })
  assert.deepInclude((await failure(shop.messages.send(hello(), fresh()))).provider, { code: "190" })
  await shop.phoneNumbers.setCredentials(number!.id, { accessToken: "of-its-own", baseUrl: api.url })
  assert.strictEqual((await shop.messages.send(hello(), fresh())).status, "sent")
  await Effect.runPromise(api.acceptTokens([accessToken]))
  await shop.phoneNumbers.setCredentials(number!.id, null)
  assert.strictEqual((await shop.messages.send(hello(), fresh())).status, "sent")

  assert.deepInclude(await failure(shop.phoneNumbers.setCredentials(number!.id, { accessToken: "a b" })), {
    code: "invalid_body",
    param: "accessToken"
  })

  await shop.phoneNumbers.setPortfolio(number!.id, "2729063490586005")
  const told = async () => (await shop.phoneNumbers.list().page()).data[0]!.portfolioId
  assert.strictEqual(await told(), "2729063490586005")
  await shop.phoneNumbers.setPortfolio(number!.id, null)
  assert.isNull(await told())
  assert.deepInclude(await failure(shop.phoneNumbers.setPortfolio(number!.id, "")), { code: "invalid_body" })

  const { code } = await failure(wac.phoneNumbers.setCredentials(number!.id, { accessToken: "of-its-own" }))
  assert.strictEqual(code, "not_found")
  const bad = { name: "Third", phoneNumber: "+15005550102", credentials: { accessToken: "" } }
  assert.deepInclude(await failure(wac.workspaces.create(bad)), { param: "credentials.accessToken" })
})
