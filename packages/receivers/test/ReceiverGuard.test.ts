/**
 * The guard as a whole: whatever way a receiver's address is written, and whatever its name leads to by the time.
 */
import { assert, describe, it } from "@effect/vitest"
import { ReceiverGuard } from "@wac/core"
import { Effect, Layer, Result, Schema } from "effect"
import { judgeHost } from "../src/ReceiverAddress.ts"
import * as ReceiverGuardDns from "../src/ReceiverGuardDns.ts"
import { layer } from "../src/WebhookTransportHttp.ts"
import { post, reply, serve } from "./receivers.ts"

type Four = readonly [number, number, number, number]

const hex = (value: number, digits = 1) => value.toString(16).padStart(digits, "0")

/** Every way in which the URL standard reads the IPv4 address. */
const spellings = (four: Four): ReadonlyArray<string> => {
  const [a, b, c, d] = four
  const whole = ((a * 256 + b) * 256 + c) * 256 + d
  const dotted = four.join(".")
  return [
    dotted,
    `${dotted}.`,
    `${whole}`,
    `0x${hex(whole)}`,
    `0X${hex(whole).toUpperCase()}`,
    `0${whole.toString(8)}`,
    `${a}.${whole % 2 ** 24}`,
    `${a}.0x${hex(b)}.${c * 256 + d}`,
    four.map((part) => `0x${hex(part, 2)}`).join("."),
    four.map((part) => `0${part.toString(8)}`).join("."),
    four.map((part) => `0000${part.toString(8)}`).join("."),
    [...dotted].map((character) => `%${hex(character.charCodeAt(0), 2)}`).join(""),
    dotted.replaceAll(".", "\u3002"),
    dotted.replace(/\d/g, (digit) => String.fromCharCode(0xff10 + Number(digit)))
  ]
}

/** IPv6 addresses that lead to the IPv4 address, by themselves or through a translator or a tunnel. */
const disguises = ([a, b, c, d]: Four): ReadonlyArray<string> => {
  const high = `${hex(a)}${hex(b, 2)}`
  const low = `${hex(c)}${hex(d, 2)}`
  const inverted = [a, b, c, d].map((part) => hex(part ^ 0xff, 2))
  return [
    `[::ffff:${a}.${b}.${c}.${d}]`,
    `[::FFFF:${high}:${low}]`,
    `[0:0:0:0:0:ffff:${high}:${low}]`,
    `[0000:0000:0000:0000:0000:ffff:${a}.${b}.${c}.${d}]`,
    `[::${high}:${low}]`,
    `[::ffff:0:${high}:${low}]`,
    `[64:ff9b::${high}:${low}]`,
    `[64:ff9b:1::${high}:${low}]`,
    `[2002:${high}:${low}::1]`,
    `[2001:0:4136:e378:8000:63bf:${inverted[0]}${inverted[1]}:${inverted[2]}${inverted[3]}]`
  ]
}

const byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))
const bytes = Schema.Tuple([byte, byte, byte, byte])

/** Private addresses made of random ones. */
const privates = ([a, b, c, d]: Four): ReadonlyArray<Four> => [
  [10, b, c, d],
  [127, b, c, d],
  [0, b, c, d],
  [169, 254, c, d],
  [172, 16 + b % 16, c, d],
  [192, 168, c, d],
  [100, 64 + b % 64, c, d],
  [198, 18 + b % 2, c, d],
  [224 + a % 32, b, c, d]
]

/** Where receivers are: no special range begins with these. */
const publicFirsts = [1, 8, 23, 34, 52, 93, 104, 142, 151, 185]

const host = (written: string) => judgeHost(new URL(`https://${written}/hook`).hostname, [])

const check = (url: string, rules: Partial<ReceiverGuardDns.ReceiverRules> = {}) =>
  ReceiverGuard.ReceiverGuard.use((guard) => Effect.result(guard.check(new URL(url)))).pipe(
    Effect.provide(Layer.fresh(ReceiverGuardDns.layer({ allowInsecure: true, allowedCidrs: [], ...rules })))
  )

describe("an address", () => {
  it.prop("a private address is refused however it is written or embedded", { four: bytes }, ({ four }) => {
    for (const inside of privates(four)) {
      for (const written of [...spellings(inside), ...disguises(inside)]) {
        assert.isFalse(host(written).allowed, written)
      }
    }
  })

  it.prop("a public address is allowed however it is written", { four: bytes }, ({ four: [a, b, c, d] }) => {
    const outside: Four = [publicFirsts[a % publicFirsts.length]!, b, c, d]
    for (const written of [...spellings(outside), ...disguises(outside).slice(0, 4)]) {
      assert.isTrue(host(written).allowed, written)
    }
  })

  it.effect.prop(
    "a private address is refused when the webhook is saved",
    { four: bytes },
    ({ four }) =>
      Effect.gen(function*() {
        for (const inside of privates(four)) {
          const written = [...spellings(inside), ...disguises(inside)]
          const one = written[(four[0] * 256 + four[3]) % written.length]!
          assert.isTrue(Result.isFailure(yield* check(`https://${one}/hook`)), one)
        }
      })
  )
})

describe("a name whose addresses change", () => {
  const rebinding = (answers: ReadonlyArray<string>) => {
    let lookups = 0
    return async () => [answers[Math.min(lookups++, answers.length - 1)]!]
  }

  it.effect("a name that turns private is refused at the attempt, although it was accepted when saved", () =>
    Effect.gen(function*() {
      const receiver = yield* serve(reply(200))
      const rules = {
        allowInsecure: true,
        allowedCidrs: [],
        lookup: rebinding(["93.184.216.34", "127.0.0.1"])
      }
      const url = `http://rebinding.example:${receiver.port}/hook`
      assert.isTrue(Result.isSuccess(yield* check(url, rules)))
      const answer = yield* post(url).pipe(Effect.provide(layer(rules)))
      assert.strictEqual(answer.outcome, "blocked_address")
      assert.notInclude(answer.message, "127.0.0.1")
      assert.isNull(answer.address)
      assert.strictEqual(receiver.sockets.length, 0)
    }))

  it.effect("a name that turned private is refused at later attempts and when saved again", () =>
    Effect.gen(function*() {
      const rules = {
        allowInsecure: true,
        allowedCidrs: [],
        lookup: rebinding(["10.0.0.1", "::ffff:169.254.169.254", "fd00:ec2::254"])
      }
      const url = "https://rebinding.example/hook"
      for (let i = 0; i < 3; i++) {
        assert.strictEqual((yield* post(url).pipe(Effect.provide(layer(rules)))).outcome, "blocked_address")
      }
      assert.isTrue(Result.isFailure(yield* check(url, rules)))
    }))
})
