import { assert, describe, it } from "vitest"
import type { Campaign, CampaignRecipient, NewCampaign } from "../../src/promises.ts"
import { failure, start } from "../instance.ts"

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

const order: NewCampaign = {
  name: "Orders",
  template: { name: "order_update", language: "en_US", bodyParams: ["{{name}}", "{{order}}"] },
  share: 0.9
}

async function* recipients(count: number): AsyncGenerator<CampaignRecipient> {
  for (let n = 0; n < count; n++) yield { to: customer(n), variables: { name: `C${n}`, order: `${n}` } }
}

const all = async <A>(list: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  for await (const item of list) items.push(item)
  return items
}

describe("campaigns", () => {
  it("a campaign is created, filled, checked, started and completed", async () => {
    const { clock, wac } = await start()
    const done: Array<unknown> = []
    wac.on("campaign.completed", ({ data }) => void done.push(data))
    const { id } = await wac.campaigns.create(order)
    const filled = await wac.campaigns.addRecipients(id, recipients(1100))
    assert.deepInclude(filled, { rows: 1100, checked: 0, status: "draft" })
    await wac.campaigns.addRecipients(id, [{ to: customer(0) }, { to: "nobody" }])
    await wac.campaigns.check(id)
    await clock.advance(5000)
    const checked = await wac.campaigns.get(id)
    assert.deepInclude(checked, { status: "ready", rows: 1102, problems: 2 })
    const rows = await all(wac.campaigns.recipients(id))
    assert.strictEqual(rows.length, 1102)
    assert.deepStrictEqual(rows.slice(-2).map(({ problem }) => problem?.reason), ["duplicate", "malformed"])
    await wac.campaigns.start(id)
    await clock.advance(60_000)
    const completed: Campaign = await wac.campaigns.get(id)
    assert.strictEqual(completed.status, "completed")
    assert.strictEqual(completed.counts.total, 1100)
    assert.strictEqual(completed.counts.queued, 0)
    assert.deepStrictEqual(await all(wac.campaigns.list()), [completed])
    assert.strictEqual(done.length, 1)
    const message = await wac.messages.get(rows[7]!.messageId!)
    assert.deepInclude(message, { to: customer(7), type: "template" })
  })

  it("what a campaign's status does not allow is refused, and wrong fields are named", async () => {
    const { wac } = await start()
    const { id } = await wac.campaigns.create(order)
    assert.deepInclude(await failure(wac.campaigns.start(id)), { code: "forbidden", reason: "campaign_state" })
    assert.deepInclude(await failure(wac.campaigns.create({ ...order, share: 2 })), {
      code: "invalid_body",
      param: "share"
    })
    assert.deepInclude(await failure(wac.campaigns.edit(id, { startAt: "soon" })), {
      code: "invalid_body",
      param: "startAt"
    })
    assert.deepInclude(await failure(wac.campaigns.get("cmp_0")), { code: "not_found" })
    const at = new Date(Date.UTC(2100, 0, 1))
    assert.deepInclude(await wac.campaigns.edit(id, { startAt: at, share: 0.2 }), {
      startAt: at.toISOString(),
      share: 0.2
    })
    assert.strictEqual((await wac.campaigns.edit(id, { startAt: null })).startAt, null)
    await wac.campaigns.remove(id)
    assert.deepStrictEqual(await all(wac.campaigns.list()), [])
  })

  it("if reading the recipients throws, that is the rejection, and the campaign stays as it was", async () => {
    const { clock, wac } = await start()
    const { id } = await wac.campaigns.create(order)
    const broken = async function*(): AsyncGenerator<CampaignRecipient> {
      yield* recipients(1300)
      throw new Error("the file is gone")
    }
    const error = await wac.campaigns.addRecipients(id, broken()).then(() => undefined, (error: unknown) => error)
    assert.strictEqual((error as Error).message, "the file is gone")
    assert.deepInclude(await wac.campaigns.addRecipients(id, recipients(2)), { rows: 2 })
    assert.deepInclude(await wac.campaigns.addRecipients(id, recipients(1)), { rows: 3 })
    assert.deepInclude(await wac.campaigns.replaceRecipients(id, [{ to: "nobody" }]), { rows: 1 })
    await wac.campaigns.check(id)
    await clock.advance(5000)
    const [row] = await all(wac.campaigns.recipients(id))
    assert.deepInclude(row, { row: 1, problem: { ...row!.problem!, line: null, value: "nobody" } })
  })

  it("a recipient with an unknown field is a problem that names the field, and a field that is undefined counts as omitted", async () => {
    const { clock, wac } = await start()
    const { id } = await wac.campaigns.create(order)
    const variables = { name: "Ana", order: "7" }
    await wac.campaigns.addRecipients(id, [
      { to: customer(0), variables, time_zone: "Europe/Paris" } as CampaignRecipient,
      { to: customer(1), variables, timeZone: undefined, note: undefined } as unknown as CampaignRecipient
    ])
    await wac.campaigns.check(id)
    await clock.advance(5000)
    assert.deepInclude(await wac.campaigns.get(id), { rows: 2, problems: 1 })
    const rows = await all(wac.campaigns.recipients(id))
    assert.deepStrictEqual(rows.map(({ problem }) => problem), [
      { reason: "malformed", message: "there is no field time_zone here", line: null, value: customer(0) },
      null
    ])
  })

  it("a recipient that is an object of the host with references to itself is a problem at once", async () => {
    const { clock, wac } = await start()
    const { id } = await wac.campaigns.create(order)
    const entity: Record<string, unknown> = { to: customer(0), deleted: undefined }
    for (const name of ["owner", "parent", "account"]) entity[name] = { entity, siblings: [entity, entity] }
    await wac.campaigns.addRecipients(id, [entity as unknown as CampaignRecipient])
    await wac.campaigns.check(id)
    await clock.advance(5000)
    const [row] = await all(wac.campaigns.recipients(id))
    assert.deepInclude(row!.problem, { reason: "malformed", value: customer(0) })
    assert.include(row!.problem!.message, "must not nest deeper")
  })
})
