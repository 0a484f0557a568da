/**
 * Conformance of `ContactStore`, `CustomerStore`, `MessageStore` and `CampaignStore` over random histories of a
 * customer: their messages, opt-outs by people and programs, imports, names that are reported together or move,
 * erasures, sends and campaigns. No message goes to a customer who has opted out, and no campaign writes to a customer
 * twice. A test's title contains its seed, and a failure lists the steps that led to it.
 */
import { assert } from "@effect/vitest"
import {
  Campaign,
  CampaignStore,
  type CampaignWorkStep,
  Capabilities,
  type Contact,
  ContactStore,
  CustomerNames,
  type Id,
  type PhoneNumber,
  PhoneNumberStore,
  QueueStore,
  Recipient,
  type Time
} from "@wac/core"
import { Cause, Effect, Option, Result } from "effect"
import * as Fixture from "../Fixture.ts"
import * as MessageFixture from "../messages/MessageFixture.ts"
import * as SeededRandom from "../SeededRandom.ts"
import * as CustomerFixture from "./CustomerFixture.ts"

/** How many histories there are. Those of a test share a workspace. */
const histories = { few: 3, all: 12, long: 10_000 }
const perTest = { few: 3, all: 4, long: 100 }

/** Steps per history. */
const length = 60

/** The names of a history. */
interface Names {
  /** A number, and a form of it that no table knows. */
  readonly line: string
  readonly older: string
  /** A user id, its parent, and the id after it. */
  readonly person: string
  readonly parent: string
  readonly renamed: string
  /** Somebody else, who may get the number. */
  readonly other: string
}

const namesOf = (seed: number): Names => {
  const digits = `97${String(seed).padStart(6, "0")}`
  return {
    line: `+22901${digits}`,
    older: `+229${digits}`,
    person: `BJ.${seed}a`,
    parent: `BJ.ENT.${seed}`,
    renamed: `BJ.${seed}b`,
    other: `BJ.${seed}x`
  }
}

/** The names of a history, and the groups of names that the provider may report together. */
interface Plot {
  readonly names: ReadonlyArray<string>
  readonly groups: ReadonlyArray<ReadonlyArray<string>>
}

/** One customer; or two, one after the other at one number. */
const plotsOf = ({ line, older, other, parent, person, renamed }: Names): ReadonlyArray<Plot> => [
  {
    names: [line, older, person, parent, renamed],
    groups: [
      [line, person],
      [older, person],
      [line, older],
      [line, older, person],
      [person, parent],
      [line, person, parent]
    ]
  },
  {
    names: [line, person, parent, other],
    groups: [[line, person], [line, other], [person, parent], [line, person, parent]]
  }
]

const customerOf = (names: ReadonlyArray<string>): Contact.Customer => {
  const [phone = null, ...lines] = names.filter(CustomerNames.isNumber)
  const [userId = null, ...ids] = names.filter(CustomerNames.isUserId)
  const aliases = [...lines.map(CustomerNames.keyOf), ...ids]
  return CustomerNames.withAliases(phone === null ? { phone, userId: userId! } : { phone, userId }, aliases)
}

/** The contacts of one number: which names are one customer there, and which are opted out. */
class Known {
  private groups: ReadonlyArray<ReadonlySet<string>> = []
  private readonly names: Names
  readonly out = new Set<string>()

  constructor(names: Names) {
    this.names = names
  }

  /** Which of the two customers has these names; undefined if there is no user id among them. */
  private ownerOf(names: Iterable<string>): "person" | "other" | undefined {
    const ids = [...names].filter(CustomerNames.isUserId)
    return ids.length === 0 ? undefined : ids.includes(this.names.other) ? "other" : "person"
  }

  /** All names of the customer with this name. */
  together(name: string): ReadonlySet<string> {
    return this.groups.find((group) => group.has(name)) ?? new Set([name])
  }
  has(name: string): boolean {
    return this.groups.some((group) => group.has(name))
  }
  isOut(names: Iterable<string>): boolean {
    return [...names].some((name) => this.out.has(name))
  }
  set(names: Iterable<string>, isOut: boolean): void {
    for (const name of names) {
      if (isOut) this.out.add(name)
      else this.out.delete(name)
    }
  }
  /**
   * Records names that were reported together: they belong to one customer. A number that comes with another customer's
   * id leaves its previous customer, and so does an id that comes with another number.
   */
  link(names: ReadonlyArray<string>): ReadonlySet<string> {
    const wasOut = this.isOut(names.flatMap((name) => [...this.together(name)]))
    const left = this.groups.flatMap((group) => {
      const isOthers = this.ownerOf(names) !== undefined && this.ownerOf(group) !== undefined &&
        this.ownerOf(names) !== this.ownerOf(group)
      if (isOthers) return [new Set([...group].filter((name) => !names.includes(name)))]
      const lines = new Set([...group].filter(CustomerNames.isNumber))
      const isNamed = names.some((name) => CustomerNames.isUserId(name) && group.has(name))
      const hasMoved = isNamed && lines.size > 0 && names.some(CustomerNames.isNumber) &&
        !names.some((name) => lines.has(name))
      return hasMoved ? [lines, new Set([...group].filter((name) => !lines.has(name)))] : [group]
    })
    const joined = left.filter((group) => names.some((name) => group.has(name)))
    const one = new Set([...names, ...joined.flatMap((group) => [...group])])
    this.groups = [...left.filter((group) => !joined.includes(group)), one]
    if (wasOut) this.set(one, true)
    return one
  }
  forget(names: ReadonlySet<string>): void {
    this.groups = this.groups.filter((group) => ![...group].some((name) => names.has(name)))
  }
}

interface Running {
  readonly campaign: Campaign.Campaign
  readonly n: number
  readonly isMarketing: boolean
  /** The names to which it has written. */
  readonly to: Set<string>
}

/** Registers the tests. */
export const tests = (it: Fixture.It, runs: SeededRandom.Runs): void => {
  const count = SeededRandom.count(perTest, runs)
  const tests = SeededRandom.count(histories, runs) / count
  it.effect.each(Array.from({ length: tests }, (_, i) => ({ first: i * count + 1, last: (i + 1) * count })))(
    "no message goes to an opted-out customer, and no campaign writes to a customer twice, seeds $first to $last",
    ({ first, last }) =>
      Effect.gen(function*() {
        const own = yield* Fixture.world()
        const second = yield* Fixture.phoneNumber(own.workspace.id, {
          providerAccountId: own.number.providerAccountId,
          isDefault: false
        })
        yield* PhoneNumberStore.PhoneNumberStore.use((store) => store.add(second))
        let now = own.start
        for (let seed = first; seed <= last; seed++) {
          const history: Array<string> = []
          now = yield* Effect.catchCause(
            run({ ...own, start: now }, [own.number, second], seed, history),
            (cause) => Effect.die(new Error(`seed ${seed}, after:\n${history.join("\n")}\n${Cause.pretty(cause)}`))
          )
        }
      }),
    // a database makes several round trips for each step
    { timeout: 60_000 + count * 10_000 }
  )
}

/** Runs a history from the start of the world on. Returns when it ended. */
const run = (
  own: Fixture.World,
  numbers: ReadonlyArray<PhoneNumber.PhoneNumber>,
  seed: number,
  history: Array<string>
): Fixture.Play<Time.Instant> =>
  Effect.gen(function*() {
    const random = SeededRandom.make(seed)
    const contacts = yield* ContactStore.ContactStore
    const campaigns = yield* CampaignStore.CampaignStore
    const queue = yield* QueueStore.QueueStore
    const workspaceId = own.workspace.id
    const given = namesOf(seed)
    const { line, older, person, renamed } = given
    const { groups, names } = random.pick(plotsOf(given))
    const known = numbers.map(() => new Known(given))
    /** Whether any name may be opted out for every number already. An import then leaves numbers that it has opted in. */
    let isGeneral = false
    const open: Array<Running> = []
    let now = own.start

    /** The names that are one customer on any number. */
    const closure = (name: string): ReadonlySet<string> => {
      let all = new Set([name])
      for (;;) {
        const more = new Set([...all].flatMap((each) => known.flatMap((one) => [...one.together(each)])))
        if (more.size === all.size) return all
        all = more
      }
    }

    const choose = (
      name: string,
      preference: Contact.Preference,
      phoneNumberId: Id.PhoneNumberId | null,
      source: "api" | "import"
    ) => CustomerFixture.choose({ now, workspaceId, phoneNumberId, name, preference, source })

    /** Sends, holds the answer against the model, and returns it. */
    const send = Effect.fnUntraced(function*(n: number, options: MessageFixture.SendOptions, isMarketing: boolean) {
      const { accepted, command } = yield* MessageFixture.accept(own, { now, ...options })
      const { to } = command.message
      if (accepted._tag !== "Claimed") return accepted
      assert.isFalse(isMarketing && known[n]!.isOut([to]), `${to} has opted out`)
      const claim = { ...command, messageId: accepted.message.id, claimed: accepted.message }
      yield* MessageFixture.settle(claim, yield* MessageFixture.acceptedOutcome, now)
      return accepted
    })

    const promo = (to: string, from: string) => MessageFixture.template({ to, from, name: "promo", bodyParams: ["x"] })

    const work = Effect.gen(function*() {
      const command: CampaignWorkStep.Work = {
        now,
        limit: 1 + random.below(3),
        limits: Fixture.roomy,
        rateCard: [],
        provider: own.number.provider,
        capabilities: Capabilities.all,
        messageIds: yield* Effect.replicateEffect(Fixture.id("msg"), 5),
        hashes: {},
        hashedFor: own.workspace.id,
        ids: yield* Fixture.eventIds
      }
      const first = Option.getOrUndefined(yield* campaigns.work(command))
      if (first === undefined || first.unhashed.length === 0) return first
      const hashes = MessageFixture.hashesFor(first.unhashed)
      return Option.getOrUndefined(yield* campaigns.work({ ...command, hashes }))
    })

    /** Sends to the recipients that one piece of work hands out. */
    const step = Effect.fnUntraced(function*() {
      const worked = yield* work
      for (const { message } of worked?.claimed ?? []) {
        const { isMarketing, n, to: written } = open.find(({ campaign }) => campaign.id === message.campaignId)!
        const { content, id: messageId } = message
        const to = CustomerNames.keyOf(content.to)
        const isWritten = [...known[n]!.together(to)].some((name) => written.has(name))
        const accepted = yield* send(n, {
          route: Recipient.routeOf(message.campaignId!),
          key: to,
          fingerprint: Recipient.fingerprint,
          apiKeyId: null,
          queue: { campaignId: message.campaignId! },
          message: content
        }, isMarketing)
        if (accepted._tag === "Claimed") {
          assert.isFalse(isWritten, `the campaign wrote to ${to} twice`)
          written.add(to)
          history.push(`  wrote to ${to}`)
        } else {
          history.push(`  ${MessageFixture.describe(accepted)} ${to}`)
          yield* queue.end({
            now,
            messageId,
            phoneNumberId: null,
            end: { _tag: "Skipped", error: { code: "forbidden", reason: "refused", message: "it was refused" } },
            ids: { events: [], deliveries: [] }
          })
        }
      }
      return worked
    })

    const change = Effect.fnUntraced(function*(id: Id.CampaignId, change: Campaign.Change) {
      const changed = Option.getOrThrow(yield* campaigns.change({ workspaceId, id, now, change }))
      return Result.getOrThrow(changed)
    })

    const status = (id: Id.CampaignId) =>
      Effect.map(campaigns.get(workspaceId, id), (found) => Option.getOrThrow(found).status)

    /** Creates a campaign to some of the names, checks it and starts it. */
    const begin = Effect.fnUntraced(function*(n: number) {
      const isMarketing = random.below(3) > 0
      const id = yield* Fixture.id("cmp")
      const campaign = Campaign.make({ id, workspaceId, createdAt: now }, {
        name: "All",
        from: numbers[n]!.id,
        template: isMarketing
          ? { name: "promo", language: "en_US", bodyParams: ["x"] }
          : { name: "plain", language: "en_US" }
      })
      yield* campaigns.create(campaign)
      open.push({ campaign, n, isMarketing, to: new Set() })
      const rows = Array.from({ length: 2 + random.below(4) }, () => ({ recipient: { to: random.pick(names) } }))
      yield* campaigns.addRows({ workspaceId, id, rows, upload: "whole", isFirst: true, end: "add" })
      yield* change(id, { _tag: "Check" })
      for (let pieces = 0; (yield* status(id)) === "checking"; pieces++) {
        assert.isBelow(pieces, 50)
        yield* step()
      }
      for (const { message } of yield* campaigns.rows(workspaceId, id, { limit: 100, after: 0 })) {
        const to = message?.content.to
        assert.isFalse(to !== undefined && isMarketing && known[n]!.isOut([to]), `the check passed ${to}`)
      }
      yield* change(id, { _tag: "Start" })
    })

    const kinds = [
      "STOP",
      "START",
      "hello",
      "tell",
      "tell",
      "rename",
      "out",
      "in",
      "import",
      "erase",
      "send",
      "send",
      "send",
      "campaign",
      "work",
      "work",
      "work"
    ]
    for (let i = 1; i <= length; i++) {
      now += Fixture.second
      const n = random.below(2)
      const number = numbers[n]!
      const name = random.pick(names)
      const kind = random.pick(kinds)
      const isOfNumber = random.below(2) === 0
      const together = random.pick([...groups, ...groups, [line], [person]])
      history.push(`${kind} ${n} ${name} ${together.join("+")}${isOfNumber ? " on the number" : ""}`)
      switch (kind) {
        case "send":
          yield* send(n, { message: promo(name, number.id) }, true)
          break
        case "campaign":
          yield* begin(n)
          break
        case "work":
          yield* step()
          break
        case "out":
        case "in":
        case "import": {
          const isOut = kind !== "in"
          yield* choose(
            name,
            isOut ? "opt_out" : "opt_in",
            isOfNumber ? number.id : null,
            kind === "import" ? kind : "api"
          )
          const mayLeave = kind === "import" && !isOfNumber && isGeneral
          if (isOut && !isOfNumber) isGeneral = true
          if (mayLeave) break
          for (const each of isOfNumber ? [n] : numbers.keys()) known[each]!.set(closure(name), isOut)
          break
        }
        case "erase": {
          const all = closure(name)
          yield* CustomerFixture.eraseContacts(workspaceId, name, now)
          for (const one of known) {
            one.set(all, one.isOut(all))
            one.forget(all)
          }
          break
        }
        case "rename": {
          if (!names.includes(renamed) || !known[n]!.has(person)) break
          const [from, to] = [customerOf([person]), customerOf([renamed])]
          yield* contacts.move({
            now,
            hashes: MessageFixture.hashesOf(from, to),
            providerNumberId: number.providerNumberId,
            from,
            to,
            at: now
          })
          known[n]!.link([person, renamed])
          break
        }
        default: {
          const customer = customerOf(together)
          if (kind === "tell") {
            yield* contacts.recordNames({
              now,
              hashes: MessageFixture.hashesOf(customer),
              providerNumberId: number.providerNumberId,
              customer,
              at: now
            })
          } else {
            const content = { type: "text", content: { body: kind } }
            yield* MessageFixture.inbound({ ...own, number }, { customer, at: now, now, content })
          }
          const one = known[n]!.link(together)
          if (kind === "STOP" || kind === "START") known[n]!.set(one, kind === "STOP")
        }
      }
    }
    // what is left of the campaigns
    for (let pieces = 0;; pieces++) {
      assert.isBelow(pieces, 500, "the campaigns never end")
      now += Fixture.second
      const states = yield* Effect.forEach(open, ({ campaign }) => status(campaign.id))
      if (states.every((each) => each === "completed")) break
      assert.notInclude(states, "paused")
      yield* step()
    }
    // nobody is opted out for ever
    now += Fixture.second
    for (const name of names) yield* choose(name, "opt_in", null, "api")
    now += Fixture.second
    for (const [n, { id }] of numbers.entries()) {
      for (const one of known) one.out.clear()
      for (const name of names) {
        const accepted = yield* send(n, { message: promo(name, id) }, true)
        // a form of a number that is valid only while it is known
        if (name !== older) assert.strictEqual(MessageFixture.describe(accepted), "Claimed", name)
      }
    }
    assert.deepStrictEqual((yield* contacts.optOuts(workspaceId, { limit: 10, after: null })).items, [])
    return now
  })
