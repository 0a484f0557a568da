import * as Extent from "@wac/testbed/Extent"
import { StorageSuite } from "@wac/testkit"
import { MemoryStorage } from "../src/index.ts"

StorageSuite.suite("memory", MemoryStorage.layer, { runs: Extent.of("all", "long") })
