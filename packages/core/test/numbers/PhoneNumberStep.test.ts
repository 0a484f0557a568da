import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { PhoneNumberId } from "../../src/Id.ts"
import { fresh, type PhoneNumber, unlearned } from "../../src/numbers/PhoneNumber.ts"
import {
  type Add,
  add,
  assign,
  type LoadedWorkspaces,
  observe,
  type Observed,
  remove,
  retire,
  setCredentials
} from "../../src/numbers/PhoneNumberStep.ts"
import { inBatches, sizes } from "../batches.ts"
import { between, checks, minute, upTo } from "../checks.ts"
import { id, start } from "../samples.ts"

const number = (n: number, fields: Partial<PhoneNumber> = {}): PhoneNumber => ({
  ...fresh({
    id: id("pn", n),
    workspaceId: id("ws"),
    provider: "sandbox",
    phoneNumber: `+1415555010${n}`,
    providerNumberId: `${n}`,
    providerAccountId: "1",
    learned: unlearned,
    isDefault: false
  }),
  ...fields
})

/** The stored numbers. */
class World {
  readonly numbers: Map<PhoneNumberId, Observed>
  readonly credentials = new Map<PhoneNumberId, string | null>()
  readonly left: Array<string> = []

  constructor(...numbers: ReadonlyArray<PhoneNumber>) {
    this.numbers = new Map(numbers.map((one) => [one.id, { number: one, toldAt: {} }]))
  }

  all(): ReadonlyArray<PhoneNumber> {
    return [...this.numbers.values()].map((one) => one.number).sort((a, b) => a.id < b.id ? -1 : 1)
  }

  loaded(): LoadedWorkspaces {
    return {
      now: (asked) => asked,
      byId: (numberId) => this.numbers.get(numberId)?.number,
      ofWorkspace: (workspaceId) => this.all().filter((one) => one.workspaceId === workspaceId),
      isKnown: (providerNumberId) => this.all().some((one) => one.providerNumberId === providerNumberId)
    }
  }

  keep(numbers: ReadonlyArray<PhoneNumber>): void {
    for (const one of numbers) {
      this.numbers.set(one.id, { number: one, toldAt: this.numbers.get(one.id)?.toldAt ?? {} })
    }
  }

  add(batch: ReadonlyArray<PhoneNumber>): ReadonlyArray<boolean> {
    return this.addEach(batch.map((one) => ({ number: one })))
  }

  addEach(batch: ReadonlyArray<Add>): ReadonlyArray<boolean> {
    const { answers, writes } = add(this.loaded(), batch)
    this.keep(writes.numbers)
    for (const one of writes.credentials) this.credentials.set(one.id, one.credentials.version)
    return answers
  }

  assign(batch: Parameters<typeof assign>[1]): ReadonlyArray<boolean> {
    const { answers, writes } = assign(this.loaded(), batch)
    this.keep(writes.numbers)
    return answers
  }

  remove(batch: ReadonlyArray<PhoneNumberId>): ReadonlyArray<boolean> {
    const { answers, writes } = remove(this.loaded(), batch)
    for (const one of writes.removed) this.numbers.delete(one.id)
    for (const one of writes.left) this.left.push(`${one.workspaceId} ${one.providerAccountId}`)
    this.keep(writes.numbers)
    return answers
  }

  retire(batch: ReadonlyArray<PhoneNumberId>): ReadonlyArray<boolean> {
    const { answers, writes } = retire(this.loaded(), batch)
    this.keep(writes.numbers)
    return answers
  }

  observe(batch: Parameters<typeof observe>[1]): ReadonlyArray<number> {
    const { answers, writes } = observe({
      now: (asked) => asked,
      named: (name) =>
        [...this.numbers.values()].filter((one) =>
          "providerNumberId" in name
            ? one.number.providerNumberId === name.providerNumberId
            : one.number.providerAccountId === name.providerAccountId
        )
    }, batch)
    for (const one of writes.observed) this.numbers.set(one.number.id, one)
    return answers
  }

  setCredentials(batch: Parameters<typeof setCredentials>[1]): ReadonlyArray<boolean> {
    const { answers, writes } = setCredentials({ now: (asked) => asked, byId: (of) => this.numbers.get(of) }, batch)
    for (const one of writes.observed) this.numbers.set(one.number.id, one)
    for (const one of writes.credentials) this.credentials.set(one.id, one.credentials && one.credentials.version)
    return answers
  }

  defaults(): ReadonlyArray<string> {
    return this.all().filter((one) => one.isDefault).map((one) => one.id)
  }
}

const credentials = (version: string) => ({
  version,
  accessToken: { keyId: "k", nonce: new Uint8Array(12), ciphertext: new Uint8Array(48) },
  baseUrl: null,
  apiVersion: null
})

describe("adding numbers", () => {
  it("a provider's first number is its default, and a further one if it is added as such", () => {
    const world = new World()
    assert.deepStrictEqual(
      world.add([number(1), number(2), number(3, { isDefault: true }), number(4, { provider: "other" })]),
      [true, true, true, true]
    )
    assert.deepStrictEqual(world.defaults(), [id("pn", 3), id("pn", 4)])
  })

  it("a number's credentials are stored with it, and those of a number that is not added are not", () => {
    const world = new World()
    const answers = world.addEach([
      { number: number(1), credentials: credentials("one") },
      { number: number(2, { credentialsVersion: "of no credentials" }) },
      { number: number(3, { providerNumberId: "1" }), credentials: credentials("three") }
    ])
    assert.deepStrictEqual(answers, [true, true, false])
    assert.deepStrictEqual(world.all().map(({ credentialsVersion }) => credentialsVersion), ["one", null])
    assert.deepStrictEqual([...world.credentials], [[id("pn", 1), "one"]])
  })

  it("a known provider id, or a number that the workspace already has, is not added", () => {
    const world = new World(number(1, { isDefault: true }))
    assert.deepStrictEqual(
      world.add([
        number(2, { workspaceId: id("ws", 2), providerNumberId: "1" }),
        number(3, { phoneNumber: number(1).phoneNumber, isDefault: true }),
        number(4, { workspaceId: id("ws", 2), phoneNumber: number(1).phoneNumber })
      ]),
      [false, false, true]
    )
    assert.deepStrictEqual(world.defaults(), [id("pn", 1), id("pn", 4)])
  })
})

describe("assigning and removing numbers", () => {
  it("a provider that loses its default gets the oldest other number, and an assigned number yields to an existing default", () => {
    const world = new World(
      number(1, { isDefault: true }),
      number(2),
      number(3),
      number(4, { provider: "other", isDefault: true })
    )
    world.assign([{ id: id("pn", 1), provider: "other", providerAccountId: "2" }])
    assert.deepStrictEqual(world.defaults(), [id("pn", 2), id("pn", 4)])
    assert.strictEqual(world.numbers.get(id("pn", 1))?.number.providerAccountId, "2")
    world.remove([id("pn", 4), id("pn", 2)])
    assert.deepStrictEqual(world.defaults(), [id("pn", 1), id("pn", 3)])
  })

  it("an assignment keeps what it omits", () => {
    const world = new World(number(1, { isDefault: true }))
    assert.deepStrictEqual(world.assign([{ id: id("pn", 1), portfolioId: "7" }]), [true])
    assert.deepStrictEqual(world.all(), [number(1, { isDefault: true, portfolioId: "7" })])
  })

  it("removing an account's last number removes the account's templates", () => {
    const world = new World(number(1), number(2), number(3, { providerAccountId: "2" }))
    assert.deepStrictEqual(world.remove([id("pn", 1), id("pn", 1), id("pn", 3)]), [true, false, true])
    assert.deepStrictEqual(world.left, [`${id("ws")} 2`])
  })

  it("a retired number is not available, and passes the default to an available number of its provider", () => {
    const world = new World(
      number(1, { isDefault: true }),
      number(2, { available: false }),
      number(3, { provider: "other", isDefault: true }),
      number(4)
    )
    assert.deepStrictEqual(world.retire([id("pn", 1), id("pn", 9)]), [true, false])
    assert.deepStrictEqual(world.defaults(), [id("pn", 3), id("pn", 4)])
    // no other number could send
    world.retire([id("pn", 4)])
    assert.deepStrictEqual(world.defaults(), [id("pn", 3), id("pn", 4)])
    assert.deepStrictEqual(world.all().map(({ available }) => available), [false, false, true, false])
  })

  it.each(["assign", "remove", "retire"] as const)("the default passes to a number that is not blocked: %s", (kind) => {
    const block = {
      reason: "restricted",
      scope: "all",
      basis: "report",
      since: start,
      until: null,
      provider: null
    } as const
    const world = new World(number(1, { isDefault: true }), number(2, { block }), number(3), number(4))
    if (kind === "assign") world.assign([{ id: id("pn", 1), provider: "other", providerAccountId: "2" }])
    else world[kind]([id("pn", 1)])
    const own = world.all().filter(({ isDefault, provider }) => isDefault && provider === "sandbox")
    assert.deepStrictEqual(own.map((one) => one.id), [id("pn", 3)])
  })

  it("an unknown number changes nothing", () => {
    const world = new World(number(1))
    assert.deepStrictEqual(world.remove([id("pn", 9)]), [false])
    assert.deepStrictEqual(world.assign([{ id: id("pn", 9), provider: "other", providerAccountId: "2" }]), [false])
    assert.deepStrictEqual(world.all(), [number(1)])
  })
})

describe("observations and credentials", () => {
  it("a report reaches every number that its name selects", () => {
    const world = new World(number(1), number(2, { workspaceId: id("ws", 2) }), number(3, { providerAccountId: "2" }))
    const word = { name: { providerAccountId: "1" }, now: start, at: start, change: { quality: "green" } }
    assert.deepStrictEqual(world.observe([word]), [2])
    assert.deepStrictEqual(world.all().map((one) => one.learned.quality), ["green", "green", null])
  })

  it.each(["credentials", "payment"] as const)("new credentials lift a block for credentials only: %s", (reason) => {
    const block = { reason, scope: "all", basis: "report", since: start, until: null, provider: null } as const
    const world = new World(number(1, { block }))
    const given = { now: start, id: id("pn", 1), credentials: credentials("v1") }
    assert.deepStrictEqual(world.setCredentials([given, { ...given, id: id("pn", 2) }]), [true, false])
    assert.deepStrictEqual(
      world.all(),
      [number(1, { block: reason === "payment" ? block : null, credentialsVersion: "v1" })]
    )
    world.setCredentials([{ ...given, credentials: null }])
    assert.isNull(world.credentials.get(id("pn", 1)))
    assert.isNull(world.all()[0]?.credentialsVersion)
  })
})

const command = Schema.Struct({
  kind: Schema.Literals(["add", "assign", "remove", "retire", "observe", "credentials"]),
  of: between(1, 5),
  workspace: between(1, 2),
  provider: Schema.Literals(["sandbox", "other"]),
  account: Schema.Literals(["1", "2"]),
  isDefault: Schema.Boolean,
  minutes: between(0, 3),
  block: Schema.Literals(["credentials", "payment", "none"])
})

it.prop("batches decide the same as their commands one by one", { commands: upTo(command, 40), sizes }, (_) => {
  const play = (sizes: ReadonlyArray<number>) => {
    const world = new World()
    let made = 0
    const answers = inBatches(_.commands, sizes, (one) => one.kind, (kind, batch): ReadonlyArray<unknown> => {
      switch (kind) {
        case "add":
          return world.add(batch.map((one) =>
            number(++made, {
              workspaceId: id("ws", one.workspace),
              provider: one.provider,
              providerAccountId: one.account,
              phoneNumber: `+1415555020${one.of}`,
              providerNumberId: `${one.of}`,
              isDefault: one.isDefault
            })
          ))
        case "assign":
          return world.assign(
            batch.map((one) => ({ id: id("pn", one.of), provider: one.provider, providerAccountId: one.account }))
          )
        case "remove":
          return world.remove(batch.map((one) => id("pn", one.of)))
        case "retire":
          return world.retire(batch.map((one) => id("pn", one.of)))
        case "observe":
          return world.observe(batch.map((one) => ({
            name: one.isDefault ? { providerNumberId: `${one.of}` } : { providerAccountId: one.account },
            now: start + 3 * minute,
            at: start + one.minutes * minute,
            change: {
              tier: `${one.minutes}`,
              block: one.block === "none"
                ? null
                : { reason: one.block, scope: "all", basis: "report", since: start, until: null, provider: null }
            }
          })))
        default:
          return world.setCredentials(batch.map((one) => ({
            now: start + one.minutes * minute,
            id: id("pn", one.of),
            credentials: one.isDefault ? credentials(`${one.minutes}`) : null
          })))
      }
    })
    return { answers, numbers: world.all(), told: [...world.numbers], credentials: world.credentials, left: world.left }
  }
  const [together, apart] = [play(_.sizes), play([])]
  const sorted = (told: ReadonlyArray<readonly [string, Observed]>) => [...told].sort(([a], [b]) => a < b ? -1 : 1)
  assert.deepStrictEqual({ ...together, told: sorted(together.told) }, { ...apart, told: sorted(apart.told) })
  for (const workspaceId of [id("ws", 1), id("ws", 2)]) {
    const own = together.numbers.filter((one) => one.workspaceId === workspaceId)
    for (const provider of new Set(own.map((one) => one.provider))) {
      assert.lengthOf(own.filter((one) => one.provider === provider && one.isDefault), 1)
    }
  }
}, checks)
