import { PhoneNumberStore, type Ports, StoreError, WorkspaceStore } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { CloudApi } from "@wac/simulator"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { assert, it } from "vitest"
import { Adapter } from "../../src/index.ts"
import { whatsapp } from "../../src/promises.ts"
import { closing, failure, fresh, hello, start, startLive } from "../instance.ts"

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

it("a new workspace's number is stored together with its credentials, or not at all", async () => {
  const unavailable = (operation: string) => Effect.fail(new StoreError.StoreError({ operation }))
  let numbers!: PhoneNumberStore.PhoneNumberStore["Service"]
  let isCreateLost = true
  const storage: Layer.Layer<Ports.Ports> = Layer.effectContext(
    Effect.map(Layer.build(MemoryStorage.layer), (context) => {
      numbers = Context.get(context, PhoneNumberStore.PhoneNumberStore)
      const workspaces = Context.get(context, WorkspaceStore.WorkspaceStore)
      return context.pipe(
        Context.add(PhoneNumberStore.PhoneNumberStore, {
          ...numbers,
          setCredentials: () => unavailable("PhoneNumberStore.setCredentials")
        }),
        Context.add(WorkspaceStore.WorkspaceStore, {
          ...workspaces,
          create: (created) =>
            Effect.suspend(() =>
              created.workspace.name === "wac" || !isCreateLost
                ? workspaces.create(created)
                : unavailable("WorkspaceStore.create")
            )
        })
      )
    })
  )
  const { wac } = await start({ storage: Adapter.storage(storage) })
  const shop = { name: "Shop", phoneNumber: "+15005550101", credentials: { accessToken: "of-its-own" } }
  assert.include(await failure(wac.workspaces.create(shop)), { code: "server_error", reason: "storage_unavailable" })
  assert.deepStrictEqual((await wac.workspaces.list()).map(({ name }) => name), ["wac"])
  isCreateLost = false
  const { id } = await wac.workspaces.create(shop)
  const [number] = (await wac.workspace(id).phoneNumbers.list().page()).data
  const stored = await Effect.runPromise(numbers.credentials(number!.id as Parameters<typeof numbers.credentials>[0]))
  assert.strictEqual(stored._tag, "Some")
  assert.deepInclude(await failure(wac.workspaces.create(shop)), { code: "invalid_body", param: "providerNumberId" })
})
