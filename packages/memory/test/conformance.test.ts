import { StorageSuite } from "@wac/testkit"
import { MemoryStorage } from "../src/index.ts"

StorageSuite.suite("memory", MemoryStorage.layer)
