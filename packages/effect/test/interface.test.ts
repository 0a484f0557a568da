/**
 * The interface that programs in the process and programs with an API key share (contract §16): the same calls have the
 * same results and errors through `createWac()`, in memory, and through `createClient()`, over HTTP to the same instance.
 */
import { createClient, WacError as ClientError } from "@wac/client"
import type { Client, Messaging as OfClient } from "@wac/client"
import { Readable } from "node:stream"
import { assert, describe, expectTypeOf, it } from "vitest"
import { type Messaging, type ProviderOutcome, type Wac, WacError, type WacOptions } from "../src/promises.ts"
import { hello, serve, startLive, templates, until } from "./instance.ts"

/** The interface, with what calls it and what it belongs to. */
interface Door {
  readonly wac: Wac
  readonly service: Messaging
}

const embedded = async (options?: Partial<WacOptions>): Promise<Door> => {
  const wac = await startLive(options)
  return { wac, service: wac }
}

/** Polls of a test are requests, too; the process has no limit of these. */
const limits = { workspaceTiers: { standard: 1_000_000 } }

const overHttp = async (options?: Partial<WacOptions>): Promise<Door> => {
  const wac = await startLive({ limits, ...options })
  const { apiKey } = await wac.keys.create({
    name: "program",
    scopes: ["messages:read", "media:write", "contacts:write", "campaigns:write"]
  })
  const baseUrl = `${await serve(wac.nodeHandler)}/v1`
  return { wac, service: createClient({ baseUrl, apiKey: apiKey!, retries: 0 }) }
}

const doors = [["createWac", embedded], ["createClient", overHttp]] as const

const isError = (error: unknown): error is WacError | ClientError =>
  error instanceof WacError || error instanceof ClientError

/** An error as programs see it. */
const shownError = (error: WacError | ClientError): object => {
  assert.strictEqual(error.name, "WacError")
  if (error.requestId !== undefined) assert.include(error.message, error.requestId)
  const { code, idempotencyKey, param, provider, reason, retryAfter, status } = error
  return { code, idempotencyKey, param, provider, reason, retryAfter, status }
}

/** What a call gave. Errors of the programs themselves are not caught. */
const outcome = async (call: () => Promise<unknown>): Promise<unknown> => {
  try {
    return await call()
  } catch (error) {
    if (isError(error)) return shownError(error)
    throw error
  }
}

/** With the same words for the same ids, times and random keys, so that two instances can be compared. */
const comparable = (value: unknown): unknown => {
  const words = new Map<string, string>()
  const wordOf = (kind: string) => (text: string) => {
    if (!words.has(text)) words.set(text, `${kind}-${words.size}`)
    return words.get(text)!
  }
  const plain = (part: unknown): unknown => {
    if (typeof part === "string") {
      return part
        .replace(/\b[a-z]{2,4}_[0-9A-HJKMNP-TV-Z]{26}\b/g, wordOf("id"))
        .replace(/^(wamid|sandbox)[^ ]*$/, "provider id")
        .replace(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/, "time")
        .replace(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, "random key")
    }
    if (Array.isArray(part)) return part.map(plain)
    if (isError(part)) return plain(shownError(part))
    if (typeof part !== "object" || part === null) return part
    return Object.fromEntries(
      Object.entries(part).filter(([, field]) => field !== undefined && typeof field !== "function").map((
        [name, field]
      ) => [name, plain(field)]).sort(([one], [other]) => `${one}` < `${other}` ? -1 : 1)
    )
  }
  return plain(value)
}

const written = { body: "See https://shop.example", preview_url: true }
const customer = "+12025550123"

/** A customer's message; resolves to its id. */
const receive = async ({ wac }: Door): Promise<string> => {
  const [number] = (await wac.phoneNumbers.list().page()).data
  const results = await wac.inbound.receive([{
    type: "message",
    providerNumberId: number!.providerNumberId,
    providerMessageId: "wamid.customer",
    from: customer,
    text: { body: "Hello" }
  }]).catch((error) => assert.fail(`${error}`))
  assert.lengthOf(results, 1)
  const [event] = (await wac.events.list({ type: "message.received" }).page()).data
  return event!.data.message_id
}

type Step = (door: Door, noted: Map<string, string>) => Promise<unknown>

/** Calls whose outcomes are compared: each is a step, which may use what a step before it noted. */
const stories: Readonly<Record<string, ReadonlyArray<Step>>> = {
  "sends": [
    ({ service }) => service.messages.send({ ...hello(), clientReference: "order" }, { idempotencyKey: "a" }),
    ({ service }) => service.messages.send({ ...hello(), clientReference: "order" }, { idempotencyKey: "a" }),
    ({ service }) => service.messages.send(hello("+12025550199"), { idempotencyKey: "a" }),
    ({ service }) => service.messages.send(hello()),
    ({ service }) => service.messages.send(hello("+15005550001"), { idempotencyKey: "undeliverable" }),
    ({ service }) => service.messages.send(hello("+15005550004"), { idempotencyKey: "throttled" }),
    ({ service }) => service.messages.send(hello("555"), { idempotencyKey: "b" }),
    ({ service }) => service.messages.send({ ...hello(), clientReference: "x".repeat(256) }, { idempotencyKey: "b" }),
    ({ service }) => service.messages.send({ ...hello(), tmplate: {} } as never, { idempotencyKey: "b" }),
    ({ service }) =>
      service.messages.send({ ...hello(), sendAt: undefined, sendUntil: undefined, tmplate: undefined } as never, {
        idempotencyKey: undefined as never
      }),
    ({ service }) => service.messages.send(hello(), { idempotencyKey: "two words" }),
    ({ service }) => service.messages.send({ to: customer, type: "text", text: written }, { idempotencyKey: "c" }),
    ({ service }) =>
      service.messages.send({ to: customer, type: "text", text: { body: "a", preview_url: 1 as never } }, {
        idempotencyKey: "c"
      }),
    ({ service }) =>
      service.messages.send({ to: customer, type: "template", template: { name: "nothing", language: "en" } }, {
        idempotencyKey: "d"
      })
  ],
  "messages for later": [
    async ({ service }, noted) => {
      const sendAt = Date.now() + 3_600_000
      const queued = await service.messages.enqueue(hello(), { idempotencyKey: "a", sendAt })
      noted.set("queued", queued.messageId)
      const { sendAt: at, ...rest } = queued as typeof queued & { readonly sendAt: string }
      assert.strictEqual(at, new Date(sendAt).toISOString())
      return rest
    },
    ({ service }) => service.messages.send(hello(), { idempotencyKey: "a" }),
    ({ service }) => service.messages.enqueue(hello(), { sendAt: Number.NaN, idempotencyKey: "b" }),
    async ({ service }) => {
      const given = { sendAt: undefined, sendUntil: undefined } as never
      return (await service.messages.enqueue({ ...hello(), ...given as object }, given)).status
    },
    ({ service }) => service.messages.enqueue(hello(), { sendAt: new Date("2100-01-01"), idempotencyKey: "b" }),
    ({ service }, noted) => service.messages.get(noted.get("queued")!),
    ({ service }, noted) => service.messages.cancel(noted.get("queued")!),
    ({ service }, noted) => service.messages.cancel(noted.get("queued")!),
    ({ service }) => service.messages.cancel("msg_1"),
    async ({ service }) => {
      const { messageId } = await service.messages.send(hello())
      return service.messages.cancel(messageId)
    },
    ({ service }) =>
      service.messages.enqueueMany([
        { ...hello(), idempotencyKey: "many-1", sendAt: "2100-01-01" },
        { ...hello(), idempotencyKey: "many-2", sendAt: new Date(Date.now() + 3_600_000), clientReference: "order" },
        { ...hello("555"), idempotencyKey: "many-3" },
        { ...hello() } as never,
        { ...hello(), idempotencyKey: "many-4", sendUntil: Number.NaN },
        { ...hello(), idempotencyKey: "many-5", reference: "order" } as never
      ]),
    // the request of a batch has a key of its own, which an embedded service does not need
    ...[[], hello() as never].map((batch): Step => async ({ service }) => ({
      ...await outcome(() => service.messages.enqueueMany(batch)) as object,
      idempotencyKey: undefined
    }))
  ],
  "lists": [
    async ({ service }) => {
      for (const clientReference of ["one", "two", "three"]) {
        await service.messages.send({ ...hello(), clientReference })
      }
      return (await service.messages.list().toArray()).map((message) => message.clientReference)
    },
    async ({ service }) => (await service.messages.list({ clientReference: "two" }).toArray()).length,
    async ({ service }) => (await service.messages.list({ since: Date.now() + 60_000 }).toArray()).length,
    async ({ service }) => (await service.messages.list().toArray(2)).length,
    async ({ service }) => {
      const list = service.messages.list()
      const first = await list.page({ limit: 2 })
      const second = await list.page({ limit: 2, cursor: first.nextCursor! })
      const sizes: Array<number> = []
      for await (const page of list.pages({ limit: 1 })) sizes.push(page.data.length)
      return [first.hasMore, first.data.length, second.hasMore, second.data.length, second.nextCursor, sizes]
    },
    ({ service }) => service.messages.list().page({ limit: 101 }),
    ({ service }) => service.messages.list().page({ cursor: "x" }),
    ({ service }) => service.messages.list({ status: "lost" as never }).page(),
    ({ service }) => service.messages.list({ since: Number.NaN }).page(),
    ({ service }) => service.messages.list({ clientReference: "" }).page(),
    ({ service }) => service.messages.list({ reference: "a" } as never).page(),
    async ({ service }) => {
      const filter = { contact: undefined, direction: undefined, limit: undefined, cursor: undefined, to: undefined }
      return (await service.messages.list(filter as never).toArray()).length
    },
    ({ service }) => service.messages.get("msg_1"),
    async ({ service }) => (await service.events.list({ type: "message.sent" }).toArray()).length,
    async ({ service }) => {
      const { data, hasMore, nextCursor } = await service.events.list({ type: "message.sent" }).page({ limit: 1 })
      const { data: event, ...rest } = data[0]!
      return [rest, event.client_reference, event.status, hasMore, nextCursor !== null]
    },
    ({ service }) => service.events.list({ type: "message.lost" as never }).page(),
    ({ service }) => service.events.list({ order: "random" as never }).page()
  ],
  "conversations": [
    async (door, noted) => {
      noted.set("received", await receive(door))
      return door.service.messages.get(noted.get("received")!)
    },
    ({ service }, noted) => service.messages.markRead(noted.get("received")!, { typing: true, idempotencyKey: "a" }),
    ({ service }) => service.messages.markRead("msg_1"),
    ({ service }, noted) =>
      service.messages.send({
        to: customer,
        type: "text",
        text: written,
        context: { message_id: noted.get("received")! }
      }),
    async ({ service }) => {
      const { data } = await service.messages.conversation({ contact: customer }).page()
      // whether the sandbox has reported it delivered yet is chance
      return data.map((message) =>
        message.direction === "inbound" ? message : [message.type, message.text, message.context, message.to]
      )
    },
    async ({ service }) => (await service.messages.conversation({}).toArray()).length,
    async ({ service }) => {
      await service.messages.send(hello(customer))
      const { data } = await service.messages.conversation({ direction: "outbound" }).page()
      assert.isAbove(data.length, 0)
      return data.map((message) => Object.keys(message).sort())
    },
    async ({ service }) => {
      const { data } = await service.messages.conversation({ contact: customer, direction: "outbound" }).page()
      return data.map((message) => Object.keys(message).sort())
    },
    ({ service }) => service.messages.conversation({ contact: "1555" }).page(),
    // a program without exact optional types passes on what it was not given
    async ({ service }) => {
      const filter = { contact: undefined, direction: undefined } as never
      const { data } = await service.messages.conversation(filter).page()
      assert.deepStrictEqual(data.map(({ direction }) => direction), ["inbound"])
      return data
    },
    async ({ service }) => {
      const filter = { contact: customer, direction: undefined } as never
      return (await service.messages.conversation(filter).toArray()).map(({ direction }) => direction)
    }
  ],
  "files": [
    async ({ service }, noted) => {
      const file = await service.media.upload({ bytes: new TextEncoder().encode("0123456789"), filename: "a.txt" })
      noted.set("file", file.id)
      return file
    },
    ({ service }) => {
      async function* pieces() {
        yield new TextEncoder().encode("01234")
        yield new TextEncoder().encode("56789")
      }
      return service.media.upload({ bytes: pieces() })
    },
    async ({ service }, noted) => {
      const { id, mimeType, size, stream } = await service.media.open(noted.get("file")!)
      const text = (range?: { readonly start?: number; readonly end?: number }) => new Response(stream(range)).text()
      return [
        id,
        mimeType,
        size,
        await text(),
        await text({ start: 3, end: 5 }),
        await text({ start: 7 }),
        await text({ start: 5, end: 5 })
      ]
    },
    ({ service }) => service.media.upload({ bytes: new Uint8Array() }, { idempotencyKey: "two words" }),
    async ({ service }) => {
      async function* texts() {
        yield "a" as never
      }
      // a client finds out before there is a request
      return { ...await outcome(() => service.media.upload({ bytes: texts() })) as object, idempotencyKey: undefined }
    },
    ({ service }) => service.media.open("med_1"),
    ({ service }, noted) => service.media.remove(noted.get("file")!),
    ({ service }, noted) => service.media.open(noted.get("file")!)
  ],
  "templates and contacts": [
    async ({ service }) =>
      (await service.templates.list({ name: "hello_world" }).toArray()).map((template) => {
        // an embedding program gets more
        const { providerAccountId: _, unfillable: __, ...shared } = template as typeof template & {
          readonly providerAccountId?: string
          readonly unfillable?: string | null
        }
        return shared
      }),
    ({ service }) => service.templates.list({ nme: "hello_world" } as never).page(),
    ({ service }) => service.contacts.optOut(customer),
    ({ service }) => service.messages.send(hello(customer)),
    ({ service }) => service.contacts.optIn(customer, {}),
    ({ service }) => service.contacts.optOut("nobody"),
    ({ service }) => service.contacts.optOut(customer, { phoneNumberId: "pn_1" })
  ],
  "campaigns": [
    async ({ service }, noted) => {
      const campaign = await service.campaigns.create({
        name: "Orders",
        template: { name: "order_update", language: "en_US", bodyParams: ["{{name}}", "{{order_id}}"] },
        startAt: new Date("2100-01-01"),
        maxFailureRate: 0.5,
        quietHours: { from: "22:00", to: "07:00" }
      }, { idempotencyKey: "campaign" })
      noted.set("campaign", campaign.id)
      return campaign
    },
    async ({ service }, noted) => {
      const again = await service.campaigns.create({
        name: "Orders",
        template: { name: "order_update", language: "en_US", bodyParams: ["{{name}}", "{{order_id}}"] },
        startAt: new Date("2100-01-01"),
        maxFailureRate: 0.5,
        quietHours: { from: "22:00", to: "07:00" }
      }, { idempotencyKey: "campaign" })
      return again.id === noted.get("campaign")
    },
    ({ service }) =>
      service.campaigns.create({ name: "Other", template: { name: "a", language: "en" } }, {
        idempotencyKey: "campaign"
      }),
    ({ service }) => service.campaigns.create({ name: "a", template: { name: "a", language: "en" }, share: 2 }),
    ({ service }) =>
      service.campaigns.create({ name: "a", template: { name: "a", language: "en" }, startAt: Number.NaN }),
    ({ service }, noted) =>
      service.campaigns.edit(noted.get("campaign")!, { startAt: null, notAfter: "2100-01-02T00:00:00Z" }),
    ({ service }, noted) =>
      service.campaigns.addRecipients(noted.get("campaign")!, [
        { to: customer, variables: { name: "Ana", order_id: "1" }, timeZone: "Europe/Paris" },
        { to: "nobody" }
      ]),
    ({ service }, noted) => {
      async function* recipients() {
        yield { to: customer, variables: { name: "Ana", order_id: "1" }, timeZone: "Europe/Paris" }
        yield { to: "nobody" }
      }
      return service.campaigns.replaceRecipients(noted.get("campaign")!, recipients())
    },
    ({ service }, noted) => service.campaigns.start(noted.get("campaign")!),
    async ({ service }) => {
      const one = await service.campaigns.create({ name: "a", template: { name: "hello_world", language: "en_US" } })
      await service.campaigns.addRecipients(one.id, [{ to: customer }])
      // the answer under the key is the first call's, even if the campaign has gone on since
      const first = await service.campaigns.check(one.id, { idempotencyKey: "check" })
      await until(async () => (await service.campaigns.get(one.id)).status === "ready")
      const again = await service.campaigns.check(one.id, { idempotencyKey: "check" })
      assert.deepStrictEqual({ ...again }, { ...first })
      // a key is one call's of one campaign
      const other = await outcome(() => service.campaigns.cancel(`cmp_${"0".repeat(26)}`, { idempotencyKey: "check" }))
      await service.campaigns.remove(one.id)
      return [first.status, again.status, other]
    },
    async ({ service }, noted) => {
      const id = noted.get("campaign")!
      await service.campaigns.check(id)
      await until(async () => (await service.campaigns.get(id)).status === "ready")
      return service.campaigns.get(id)
    },
    async ({ service }, noted) => {
      const { data } = await service.campaigns.recipients(noted.get("campaign")!, { outcome: "left_out" }).page()
      // a client sends recipients as a file, with lines
      return data.map((row) => ({ ...row, problem: { ...row.problem, line: undefined } }))
    },
    ({ service }) => service.campaigns.list().page(),
    ({ service }, noted) => service.campaigns.remove(noted.get("campaign")!),
    ({ service }, noted) => service.campaigns.get(noted.get("campaign")!)
  ]
}

describe("the interface of both", () => {
  it.each(Object.entries(stories))("the calls of %s have the same results and errors in both", async (_, steps) => {
    const tell = async (door: Door) => {
      const noted = new Map<string, string>()
      const outcomes: Array<unknown> = []
      for (const step of steps) outcomes.push(await outcome(() => step(door, noted)))
      return comparable(outcomes) as ReadonlyArray<unknown>
    }
    const inProcess = await tell(await embedded())
    const remote = await tell(await overHttp())
    for (const [index, told] of inProcess.entries()) assert.deepStrictEqual(remote[index], told, `step ${index + 1}`)
  })

  it("one interface is implemented by both, so that either can take the other's place", () => {
    const typed = (wac: Wac, client: Client): readonly [Messaging, Messaging, OfClient] => [wac, client, client]
    expectTypeOf(typed).toBeFunction()
  })
})

/** What programs without a type checker give; the calls of both must be refused alike, before anything is done. */
const mistakes: Readonly<Record<string, (service: Messaging) => Promise<unknown>>> = {
  "a message that is null": ({ messages }) => messages.send(null as never),
  "a message that is text": ({ messages }) => messages.send("hello" as never),
  "a message with a name of the wire": ({ messages }) =>
    messages.send({ ...hello(), client_reference: "order" } as never),
  "a message to send with a time": ({ messages }) => messages.send({ ...hello(), sendAt: Date.now() + 1e6 } as never),
  "a message to queue with a time beside the options": ({ messages }) =>
    messages.enqueue({ ...hello(), sendUntil: Date.now() + 1e6 } as never),
  "a message with a field of every object": ({ messages }) => messages.send({ ...hello(), constructor: 1 } as never),
  "options that are null": ({ messages }) => messages.send(hello(), null as never),
  "options of queueing that are null": ({ messages }) => messages.enqueue(hello(), null as never),
  "options that are text": ({ messages }) => messages.send(hello(), "key" as never),
  "options of an opt-out that are null": ({ contacts }) => contacts.optOut(customer, null as never),
  "options of a read mark that are null": ({ messages }) => messages.markRead("msg_1", null as never),
  "options of recipients that are null": ({ campaigns }) => campaigns.addRecipients("cmp_1", [], null as never),
  "a key that is null": ({ messages }) => messages.send(hello(), { idempotencyKey: null as never }),
  "a key that is a number": ({ messages }) => messages.send(hello(), { idempotencyKey: 5 as never }),
  "a key that is a symbol": ({ messages }) => messages.send(hello(), { idempotencyKey: Symbol("a") as never }),
  "a key of a batch": ({ messages }) =>
    messages.enqueueMany([{ ...hello(), idempotencyKey: "a" }], { idempotencyKey: "b" } as never),
  "a time that is true": ({ messages }) => messages.enqueue(hello(), { sendAt: true as never }),
  "a time that is an object": ({ messages }) => messages.enqueue(hello(), { sendAt: {} as never }),
  "a campaign's time that is true": ({ campaigns }) =>
    campaigns.create({ name: "a", template: { name: "a", language: "en" }, startAt: true as never }),
  "a campaign with a name of the wire": ({ campaigns }) =>
    campaigns.create({ name: "a", template: { name: "a", language: "en" }, max_failure_rate: 0.5 } as never),
  "a campaign that is null": ({ campaigns }) => campaigns.create(null as never),
  "a typing indicator that is text": ({ messages }) => messages.markRead("msg_1", { typing: "yes" as never }),
  "a filter of conversations in a list": ({ messages }) => messages.list({ contact: customer } as never).page(),
  "a filter with a page": ({ messages }) => messages.list({ limit: 1 } as never).page(),
  "a filter with a name of the wire": ({ messages }) => messages.list({ client_reference: "a" } as never).page(),
  "a filter that the list has not": ({ campaigns }) => campaigns.list({ name: "draft" } as never).page(),
  "a status that no campaign has": ({ campaigns }) => campaigns.list({ status: "sent" as never }).page(),
  "a time of a filter that is true": ({ messages }) => messages.list({ since: true as never }).page(),
  "a misspelt field of a page": ({ messages }) => messages.list().page({ lmit: 1 } as never),
  "a misspelt field of pages": async ({ messages }) => {
    for await (const page of messages.list().pages({ lmit: 1 } as never)) return page
    return undefined
  },
  "a file without bytes": ({ media }) => media.upload({} as never),
  "a file of text": ({ media }) => media.upload({ bytes: "text" as never }),
  "a file of a Blob": ({ media }) => media.upload({ bytes: new Blob(["a"]) as never }),
  "a misspelt field of a file": ({ media }) => media.upload({ bytes: new Uint8Array(1), fileName: "a" } as never),
  "a file whose name is a number": ({ media }) => media.upload({ bytes: new Uint8Array(1), filename: 5 as never }),
  "an id that leads elsewhere in a path": ({ messages }) => messages.cancel(".."),
  "an id that is no text of Unicode": ({ messages }) => messages.cancel("\ud800"),
  "a name that leads elsewhere in a path": ({ contacts }) => contacts.optOut("..")
}

describe("a mistake that no type allows", () => {
  it("both reject it with the same error and do nothing", async () => {
    const refusals = async ({ service, wac }: Door) => {
      const all: Array<readonly [string, unknown]> = []
      for (const [name, call] of Object.entries(mistakes)) {
        const error = await call(service).then(() => "it was not refused", (error: unknown) => error)
        if (!isError(error)) {
          all.push([name, `${error}`])
          continue
        }
        const { code, param, reason, status } = error
        all.push([name, { code, param, reason, status }])
      }
      assert.deepStrictEqual(await wac.messages.list().toArray(), [])
      assert.deepStrictEqual(await wac.campaigns.list().toArray(), [])
      return all
    }
    const inProcess = await refusals(await embedded())
    const remote = await refusals(await overHttp())
    for (const [name, refusal] of inProcess) assert.isObject(refusal, `${name}: ${refusal}`)
    assert.deepStrictEqual(remote, inProcess)
  })

  it.each(doors)("an item of a batch that is not a message is refused alone, through %s", async (_, open) => {
    const { service } = await open()
    const results = await service.messages.enqueueMany([null as never, { ...hello(), idempotencyKey: "a" }])
    assert.deepStrictEqual(results.map(({ status }) => status), ["refused", "queued"])
  })

  it.each(doors)("an empty file of a customer has a type, and no bytes, through %s", async (_, open) => {
    const { service, wac } = await open({
      provider: {
        phoneNumber: "+15005550100",
        send: () => Promise.resolve({ status: "accepted", providerMessageId: "1" }),
        templates: () => Promise.resolve([]),
        download: () => Promise.resolve(Readable.from([]))
      },
      inboundMedia: "on_demand"
    })
    await wac.inbound.receive([
      { type: "message", providerNumberId: "+15005550100", providerMessageId: "1", from: customer, image: { id: "1" } }
    ])
    const [event] = (await wac.events.list({ type: "message.received" }).page()).data
    const { image } = event!.data as { readonly image?: { readonly media_id?: string } }
    const { mimeType, size, stream } = await service.media.open(image!.media_id!)
    assert.deepStrictEqual([mimeType, size], ["application/octet-stream", 0])
    assert.strictEqual(await new Response(stream()).text(), "")
  })

  it.each(doors)("a range of a file is cut to the file, and must be of whole numbers, through %s", async (_, open) => {
    const { service } = await open()
    const { id } = await service.media.upload({ bytes: new TextEncoder().encode("0123456789") })
    const { stream } = await service.media.open(id)
    const text = (range: { readonly start?: number; readonly end?: number }) => new Response(stream(range)).text()
    assert.strictEqual(await text({ start: -3, end: 2 }), "01")
    assert.strictEqual(await text({ start: 8, end: Infinity }), "89")
    assert.strictEqual(await text({ start: 100, end: 200 }), "")
    assert.strictEqual(await text({ start: 5, end: 2 }), "")
    for (const [range, param] of [[{ start: NaN }, "start"], [{ start: 0, end: 2.5 }, "end"]] as const) {
      try {
        stream(range)
        assert.fail("it was not refused")
      } catch (error) {
        assert.deepInclude(shownError(error as WacError), { code: "invalid_body", reason: "invalid_field", param })
      }
    }
  })
})

describe.each(doors)("a call through %s", (_, open) => {
  const failure = async (promise: Promise<unknown>): Promise<WacError | ClientError> => {
    const error = await promise.then(() => new Error("it did not reject"), (error: unknown) => error)
    if (isError(error)) return error
    throw error
  }

  it("a call whose signal was aborted before does nothing, and rejects with the signal's reason", async () => {
    const { service, wac } = await open()
    const signal = AbortSignal.abort(new Error("enough"))
    for (
      const call of [
        () => service.messages.send(hello(), { signal }),
        () => service.messages.enqueue(hello(), { signal }),
        () => service.messages.enqueueMany([{ ...hello(), idempotencyKey: "a" }], { signal }),
        () => service.messages.list({}, { signal }).page(),
        () => service.messages.conversation({}, { signal }).toArray(),
        () => service.media.upload({ bytes: new Uint8Array(1) }, { signal }),
        () => service.media.open("med_1", { signal }),
        () => service.contacts.optOut(customer, { signal }),
        () => service.campaigns.create({ name: "a", template: { name: "a", language: "en" } }, { signal }),
        () => service.templates.list({}, { signal }).page(),
        () => service.events.list({}, { signal }).page()
      ]
    ) {
      const error = await call().then(() => undefined, (error: unknown) => error)
      assert.strictEqual(error, signal.reason, `${call}`)
    }
    assert.deepStrictEqual(await wac.messages.list().toArray(), [])
    assert.deepStrictEqual(await wac.campaigns.list().toArray(), [])
  })

  /** A provider that answers when it is told to, by default that it has accepted the message. */
  const slow = (answer: ProviderOutcome = { status: "accepted", providerMessageId: "1" }) => {
    let accept = () => {}
    const told = new Promise<void>((resolve) => {
      accept = resolve
    })
    const provider: WacOptions["provider"] = {
      phoneNumber: "+15005550100",
      templates,
      send: async () => {
        await told
        return answer
      }
    }
    return { accept, provider }
  }

  it("a message of a batch that joins a throttled send is refused with the time after which to repeat it", async () => {
    const { accept: answer, provider } = slow({
      status: "not_sent",
      code: "rate_limited",
      reason: "provider",
      message: "slow down",
      retryAfter: 2000
    })
    const { service, wac } = await open({ provider })
    const send = failure(service.messages.send(hello(), { idempotencyKey: "a" }))
    await until(async () => (await wac.messages.list().page()).data.length === 1)
    const batch = service.messages.enqueueMany([{ ...hello(), idempotencyKey: "a" }])
    await new Promise((resolve) => setTimeout(resolve, 500))
    answer()
    const [result] = await batch
    assert.strictEqual(result!.status, "refused")
    const { error } = result as Extract<typeof result, { readonly status: "refused" }>
    const expected = { code: "rate_limited", reason: "provider", status: 429, retryAfter: 2000, idempotencyKey: "a" }
    assert.deepInclude(shownError(error as WacError), expected)
    assert.deepInclude(shownError(await send), expected)
  })

  it("a call that is aborted rejects at once, and the send that has begun goes on to its end", async () => {
    const { accept, provider } = slow()
    const { service, wac } = await open({ provider })
    const controller = new AbortController()
    const send = service.messages.send(hello(), { signal: controller.signal, idempotencyKey: "a" })
    const rejected = send.then(() => undefined, (error: unknown) => error)
    await until(async () => (await wac.messages.list().page()).data.length === 1)
    controller.abort(new Error("enough"))
    assert.strictEqual(await rejected, controller.signal.reason)
    accept()
    assert.isTrue((await service.messages.send(hello(), { idempotencyKey: "a" })).replayed)
  })

  it("a call that takes longer than its timeout rejects with it, and carries the key", async () => {
    const { accept, provider } = slow()
    const { service } = await open({ provider })
    const error = await failure(service.messages.send(hello(), { timeout: 50, idempotencyKey: "order" }))
    accept()
    assert.deepInclude(shownError(error), {
      code: "no_response",
      reason: "timeout",
      status: undefined,
      idempotencyKey: "order"
    })
  })

  it("an upload that is aborted while its stream is read keeps nothing, and ends the stream", async () => {
    const log: Array<string> = []
    const { service, wac } = await open({ log: ({ level, message }) => level === "error" && log.push(message) })
    const { id } = await service.campaigns.create({ name: "a", template: { name: "a", language: "en" } })
    const endless = <Piece>(piece: Piece) => {
      const state = { read: 0, isEnded: false }
      async function* pieces() {
        try {
          for (;;) {
            state.read++
            yield piece
            await new Promise(setImmediate)
          }
        } finally {
          state.isEnded = true
        }
      }
      return { state, pieces: pieces() }
    }
    const bytes = endless(new Uint8Array(1))
    const rows = endless({ to: customer })
    for (
      const [call, state] of [
        [(signal: AbortSignal) => service.media.upload({ bytes: bytes.pieces }, { signal }), bytes.state],
        [(signal: AbortSignal) => service.campaigns.addRecipients(id, rows.pieces, { signal }), rows.state]
      ] as const
    ) {
      const controller = new AbortController()
      const rejected = call(controller.signal).then(() => undefined, (error: unknown) => error)
      await until(() => state.read > 2)
      controller.abort(new Error("enough"))
      assert.strictEqual(await rejected, controller.signal.reason)
      await until(() => state.isEnded)
    }
    assert.strictEqual((await wac.campaigns.get(id)).rows, 0)
    assert.deepStrictEqual(log, [])
  })

  it.each([
    [{ singal: undefined }, "singal", "unknown_field"],
    [{ timeout: 0 }, "timeout", "invalid_field"],
    [{ timeout: "1000" }, "timeout", "invalid_field"],
    [{ timeout: 2 ** 31 }, "timeout", "invalid_field"],
    [{ signal: {} }, "signal", "invalid_field"]
  ])("the options %j are refused, and nothing is done", async (options, param, reason) => {
    const { service, wac } = await open()
    const given = options as never
    for (
      const call of [
        () => service.messages.send(hello(), given),
        () => service.messages.enqueue(hello(), given),
        () => service.messages.enqueueMany([{ ...hello(), idempotencyKey: "a" }], given),
        () => service.messages.cancel("msg_1", given),
        () => service.messages.get("msg_1", given),
        () => service.messages.markRead("msg_1", given),
        () => service.messages.list({}, given).page(),
        () => service.messages.conversation({}, given).page(),
        () => service.media.upload({ bytes: new Uint8Array(1) }, given),
        () => service.media.open("med_1", given),
        () => service.media.remove("med_1", given),
        () => service.templates.list({}, given).page(),
        () => service.contacts.optOut(customer, given),
        () => service.contacts.optIn(customer, given),
        () => service.campaigns.create({ name: "a", template: { name: "a", language: "en" } }, given),
        () => service.campaigns.list({}, given).page(),
        () => service.campaigns.get("cmp_1", given),
        () => service.campaigns.edit("cmp_1", {}, given),
        () => service.campaigns.remove("cmp_1", given),
        () => service.campaigns.addRecipients("cmp_1", [], given),
        () => service.campaigns.replaceRecipients("cmp_1", [], given),
        () => service.campaigns.check("cmp_1", given),
        () => service.campaigns.start("cmp_1", given),
        () => service.campaigns.pause("cmp_1", given),
        () => service.campaigns.resume("cmp_1", given),
        () => service.campaigns.cancel("cmp_1", given),
        () => service.campaigns.recipients("cmp_1", {}, given).page(),
        () => service.events.list({}, given).page()
      ]
    ) {
      assert.deepInclude(
        shownError(await failure(call())),
        { code: "invalid_body", param, reason, status: 400 },
        `${call}`
      )
    }
    assert.deepStrictEqual(await wac.messages.list().toArray(), [])
  })

  it("an error's stack contains the line that called", async () => {
    const { service } = await open()
    const caller = "a function of the program"
    const named = {
      [caller]: async (call: () => Promise<unknown>) => await call()
    }[caller]!
    const stream = async () => {
      for await (const message of service.messages.list({ status: "lost" as never })) void message
    }
    for (
      const call of [
        () => service.messages.send(hello("555")),
        () => service.messages.enqueue(hello("555")),
        () => service.messages.enqueueMany([]),
        () => service.messages.markRead("msg_1"),
        () => service.messages.cancel("msg_1"),
        () => service.media.upload({ bytes: new Uint8Array(1) }, { idempotencyKey: "two words" }),
        () => service.contacts.optOut("nobody"),
        () => service.campaigns.create({ name: "a", template: { name: "a", language: "en" }, share: 2 }),
        () => service.campaigns.start("cmp_1"),
        () => service.messages.send(hello("+15005550001")),
        () => service.messages.get("msg_1"),
        () => service.messages.list({ status: "lost" as never }).page(),
        () => service.messages.list({ status: "lost" as never }).toArray(),
        stream,
        () => service.media.open("med_1"),
        () => service.campaigns.addRecipients("cmp_1", [])
      ]
    ) {
      const { message, stack } = await failure(named(call))
      assert.include(stack, `WacError: ${message}\n`)
      assert.include(stack, "interface.test.ts", `${call}`)
    }
  })
})
