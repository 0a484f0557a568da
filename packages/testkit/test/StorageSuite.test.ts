/**
 * The suites cover a whole storage: run against one that records calls, they call every method of every port.
 */
import { Ports } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Context, Effect, Layer } from "effect"
import { afterAll, assert } from "vitest"
import * as StorageSuite from "../src/StorageSuite.ts"

const names = Object.keys(Ports.all) as ReadonlyArray<Ports.Name>
const methods = new Set<string>()
const used = new Set<string>()

/** The same service, recording which methods are used. */
const noting = <Service extends object>(port: Ports.Name, service: Service): Service => {
  for (const name of Object.keys(service)) methods.add(`${port}.${name}`)
  return new Proxy(service, {
    get: (target, name, receiver) => {
      used.add(`${port}.${String(name)}`)
      return Reflect.get(target, name, receiver)
    }
  })
}

const storage: Layer.Layer<Ports.Ports> = Layer.effectContext(
  Effect.map(Layer.build(MemoryStorage.layer), (context) =>
    names.reduce((noted, port) => {
      const key = Ports.all[port] as Context.Key<Ports.Ports, object>
      return Context.add(noted, key, noting(port, Context.get(context, key)))
    }, context))
)

StorageSuite.suite("a storage", storage, { runs: "few" })

afterAll(() => {
  assert.isAbove(methods.size, names.length)
  assert.deepStrictEqual([...methods].filter((method) => !used.has(method)), [])
})
