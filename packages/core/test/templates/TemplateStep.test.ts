import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { TemplateId } from "../../src/Id.ts"
import type { ProviderTemplate } from "../../src/templates/Template.ts"
import {
  type ReplaceAll,
  replaceAll,
  type TemplateRecord,
  type Update,
  update
} from "../../src/templates/TemplateStep.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, day, hour, minute, upTo } from "../checks.ts"
import { id, start, template } from "../samples.ts"

/** The stored templates. Workspaces have numbers of these accounts. */
class World {
  readonly kept: Map<TemplateId, TemplateRecord>
  private readonly accounts: ReadonlySet<string>

  constructor(accounts: ReadonlyArray<string>, ...kept: ReadonlyArray<TemplateRecord>) {
    this.accounts = new Set(accounts)
    this.kept = new Map(kept.map((one) => [one.template.id, one]))
  }

  all(): ReadonlyArray<TemplateRecord> {
    return [...this.kept.values()].sort((a, b) => a.template.id < b.template.id ? -1 : 1)
  }

  write({ gone, kept }: ReturnType<typeof update>["writes"]): void {
    for (const one of gone) this.kept.delete(one.id)
    for (const one of kept) this.kept.set(one.template.id, one)
  }

  replaceAll(batch: ReadonlyArray<ReplaceAll>, now?: number): void {
    this.write(
      replaceAll({
        now: (asked) => now ?? asked,
        accounts: () => this.accounts,
        ofWorkspace: (workspaceId) => this.all().filter((one) => one.template.workspaceId === workspaceId)
      }, batch).writes
    )
  }

  update(batch: ReadonlyArray<Update>, now?: number): ReadonlyArray<number> {
    const { answers, writes } = update({
      now: (asked) => now ?? asked,
      named: (of) =>
        this.all().filter((one) =>
          one.template.providerAccountId === of.providerAccountId && one.template.name === of.name &&
          one.template.language === of.language
        )
    }, batch)
    this.write(writes)
    return answers
  }
}

const listed = (fields: Partial<ProviderTemplate> = {}): ProviderTemplate => {
  const {
    category,
    components,
    language,
    name,
    parameterFormat,
    providerTemplateId,
    quality,
    rejectionReason,
    status
  } = template()
  return {
    category,
    components,
    language,
    name,
    parameterFormat,
    providerTemplateId,
    quality,
    rejectionReason,
    status,
    ...fields
  }
}

const listing = (fields: Partial<ReplaceAll> = {}): ReplaceAll => ({
  now: start + hour,
  listedAt: start + minute,
  workspaceId: id("ws"),
  providerAccountId: "account-1",
  listed: [],
  ids: [id("tpl", 7), id("tpl", 8), id("tpl", 9)],
  ...fields
})

const word = (fields: Partial<Update> = {}): Update => ({
  now: start + hour,
  providerAccountId: "account-1",
  name: "order",
  language: "en_US",
  at: start,
  change: { status: "paused" },
  ...fields
})

describe("a list", () => {
  it("a listing keeps the ids of known templates, gives new ones ids, and removes the others", () => {
    const world = new World(["account-1"], { template: template(), told: {} }, {
      template: template({ id: id("tpl", 2), name: "gone" }),
      told: {}
    })
    world.replaceAll([listing({ listed: [listed(), listed({ name: "new" })] })])
    assert.deepStrictEqual(world.all(), [
      { template: template({ syncedAt: start + minute }), told: {} },
      { template: template({ id: id("tpl", 8), name: "new", syncedAt: start + minute }), told: {} }
    ])
  })

  it("a listing removes templates of accounts in which the workspace has no number", () => {
    const others = ["account-2", "account-3"].map((providerAccountId, i) => ({
      template: template({ id: id("tpl", i + 2), providerAccountId }),
      told: {}
    }))
    const world = new World(["account-1", "account-2"], ...others)
    world.replaceAll([listing()])
    assert.deepStrictEqual(world.all(), [others[0]!])
  })

  it("a listing of an account without a number, or older than the previous one, changes nothing", () => {
    const kept = { template: template({ syncedAt: start + 2 * minute }), told: {} }
    const world = new World(["account-1"], kept)
    world.replaceAll([listing(), listing({ providerAccountId: "account-2", listed: [listed()] })])
    assert.deepStrictEqual(world.all(), [kept])
  })

  it("a listing that a wrong clock dated in the future keeps neither listings nor reports from changing anything", () => {
    const ahead = { template: template({ syncedAt: start + 30 * day }), told: {} }
    const listings = new World(["account-1"], ahead)
    listings.replaceAll([listing({ listed: [listed({ status: "paused" })] })])
    assert.deepStrictEqual(listings.all(), [{
      template: template({ status: "paused", syncedAt: start + minute }),
      told: {}
    }])
    const reports = new World(["account-1"], ahead)
    reports.update([word({ at: start + hour })])
    assert.strictEqual(reports.all()[0]!.template.status, "paused")
  })

  it("a listing that waited keeps its time, and one from the future counts as the storage's now", () => {
    const world = new World(["account-1"])
    world.replaceAll([listing({ now: start + minute, listed: [listed()] })], start + hour)
    assert.strictEqual(world.all()[0]!.template.syncedAt, start + minute)
    world.replaceAll([listing({ listedAt: start + 30 * day, listed: [listed()] })], start + hour)
    assert.strictEqual(world.all()[0]!.template.syncedAt, start + hour)
  })

  it("if a template is listed twice, the first entry gets the id and the last one sets the content", () => {
    const world = new World(["account-1"])
    world.replaceAll([listing({ listed: [listed(), listed({ status: "paused" })] })])
    assert.deepStrictEqual(world.all().map((one) => [one.template.id, one.template.status]), [[
      id("tpl", 7),
      "paused"
    ]])
  })

  it("a listing leaves what was reported after it began", () => {
    const world = new World(["account-1"], {
      template: template({ status: "paused" }),
      told: { status: start + 2 * minute, quality: start }
    })
    world.replaceAll([listing({ listed: [listed()] })])
    assert.deepStrictEqual(world.all(), [{
      template: template({ status: "paused", syncedAt: start + minute }),
      told: { status: start + 2 * minute }
    }])
  })
})

describe("upstream's word", () => {
  it("a report reaches the template in every workspace, and a time in the future counts as the storage's now", () => {
    const world = new World([], { template: template(), told: {} }, {
      template: template({ id: id("tpl", 2), workspaceId: id("ws", 2) }),
      told: {}
    })
    assert.deepStrictEqual(world.update([word({ at: start + 5 * minute })], start + minute), [2])
    for (const { template, told } of world.all()) {
      assert.deepStrictEqual([template.status, told], ["paused", { status: start + minute }])
    }
    assert.deepStrictEqual(world.update([word({ name: "unknown" })]), [0])
  })
})

const command = Schema.Struct({
  kind: Schema.Literals(["list", "word"]),
  workspace: between(1, 2),
  account: Schema.Literals(["account-1", "account-2", "account-3"]),
  names: upTo(Schema.Literals(["order", "code", "news"]), 4),
  status: Schema.Literals(["approved", "paused"]),
  minutes: between(0, 4)
})

it.prop("batches decide the same as their commands one by one", { commands: upTo(command, 30), sizes }, (_) => {
  const play = (sizes: ReadonlyArray<number>) => {
    const world = new World(["account-1", "account-2"])
    let made = 0
    const answers = inBatches(_.commands, sizes, (one) => one.kind, (kind, batch): ReadonlyArray<unknown> => {
      if (kind === "word") {
        return world.update(batch.map((one) =>
          word({
            now: start + 3 * minute,
            at: start + one.minutes * minute,
            providerAccountId: one.account,
            name: one.names[0] ?? "order",
            change: { status: one.status }
          })
        ))
      }
      world.replaceAll(batch.map((one) =>
        listing({
          workspaceId: id("ws", one.workspace),
          providerAccountId: one.account,
          listedAt: start + one.minutes * minute,
          listed: one.names.map((name) => listed({ name, status: one.status })),
          ids: one.names.map(() => id("tpl", ++made))
        })
      ))
      return batch.map(() => null)
    })
    return { answers, kept: world.all() }
  }
  assert.deepStrictEqual(play(_.sizes), play([]))
}, checks)
