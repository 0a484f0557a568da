/**
 * The packed server, and the versions of Node that a file of tests runs it on: this one, and in a full run the oldest
 * that the server claims too.
 */
import * as Extent from "@wac/testbed/Extent"
import { afterAll, beforeAll, inject } from "vitest"
import { installNodes } from "./Nodes.ts"
import * as PackedServer from "./PackedServer.ts"

const oldest = "22.19.0"

type Version = typeof oldest | "this"

export const versions = Extent.of<ReadonlyArray<Version>>(["this"], ["this", oldest])

/** Installs them for as long as the tests of the file run. */
export const install = (): {
  readonly packed: () => PackedServer.PackedServer
  /** The executable of a version. */
  readonly nodeOf: (version: Version) => string
} => {
  let packed: PackedServer.PackedServer
  let others: Awaited<ReturnType<typeof installNodes<typeof oldest>>> | undefined
  beforeAll(async () => {
    packed = PackedServer.install(inject("packed"))
    if (versions.includes(oldest)) others = await installNodes([oldest])
  })
  afterAll(async () => {
    await packed.remove()
    others?.remove()
  })
  return {
    packed: () => packed,
    nodeOf: (version) => version === "this" ? process.execPath : others!.nodes[version]
  }
}
