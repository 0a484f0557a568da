/**
 * The record of the schema's migrations, in their order: none that is recorded here is ever edited, renamed or moved,
 * because databases have run it.
 */
import { assert, describe, it } from "@effect/vitest"
import { createHash } from "node:crypto"
import * as Migrations from "../src/Migrations.ts"

/** Each migration's name and the SHA-256 of its statements. A new migration gets its line when it is written. */
const record: ReadonlyArray<readonly [name: string, sha256: string]> = [
  ["tables", "ac2be933b42dd11962daf2e3d4c9e88ef79949941c770749e8f86e684a0ecd76"],
  ["inbound posts", "6c9756bd2ec25a993ba55d4015b2ec5dce678e5403acc8f10b3c7cdc7fbf0213"],
  ["people", "983512f5fa9e4ea5caf80e527cbe1a1b31812f273099a6cb59112f5211b1d0c3"],
  ["portal", "2d413c37dae74fe832fdaaca22f2d19c6a3e763602c682348472e248ab1a6a98"],
  ["lists", "1eae226fa29fb558203b53082c01c0354e22113b78610d086702cad7cd14259a"],
  ["kinds", "e28fb83a68d1dd5efa491699a65d0f480eb1960ec25886b8ea047656dddc6abb"],
  ["campaigns", "9847b2813addb26a5a074a32b2c85590b3088373af5bf695c828769368a40d5b"],
  ["media", "66b3cce52aa1f4200a5cbb9cb3925b189f7c7af6c20a795cbbae492ec4de675b"],
  ["retention", "d30efb0bd5d90848ebf451d8a4bd227e80b8bf133d865f4e02f4deb601173a42"],
  ["campaign results", "ff402cb5ffedbf7ea4590dc669614fb6f20cec0c8580f3130a390fe718afca1c"],
  ["portfolios", "7c21e3156bc248b5a7c864a57c0bf7b72d5e354931918830ef9053c71e45a364"],
  ["heartbeats", "3974b5bee938de05c33d75bdfc251f93f3561929ae60bd4442252923741f2aba"],
  ["quiet hours", "6a3a4f11a0821fd51b2477f5563b86bad771525feb061a0bc9d76d5505e6f9ef"],
  ["forecasts", "9713532e4cfe63b3cf92cb88549908d61c8e5a08a93d752249bd7bbbaa8ec34d"],
  ["frequency cap", "c29a9db05f2bda2a4d223645c75bda7f30c2fcb0339964323189a2f1a00cf975"],
  ["prices", "5be171b3ca5baf0c3dc1865d5d29cbe01601fc69ce08e9fe5822998f8bde48ab"],
  ["variants", "fd119a2773b065559412c865f29bcae5283f4c8a65aaa5ef14ee92ae00f22c72"],
  ["customer names", "3198750b4dbee2c5044b3b6c97242cbf8e0603376fb67e3fb2468c3f7ef4e2a4"],
  ["contact names", "2ebccdca30ab02f8602b7de92aeb09ddb6ca70072d9c6f5e847a02deea9b0987"],
  ["invitation makers", "1df54406d05d5b5e9132ab81c409686a75af3e896c9a8ff1ab62cd6c41bc7455"],
  ["corrections", "b09b6a3bd8650ec01254ed62bda45f7c49fae9e074e315d46d58b2ff8a9e1c2c"],
  ["untold prices", "d0b27dcf13e08b2b48cc917755c859445eb748d4cfe825bef51ec8cb44b2caa4"],
  ["identities", "d79a839e7cf11ae492048f0e98bf7f4abd3816d0b78d1f4840facb01f75e2df1"],
  ["opt outs", "e0e52dff430af9abb1af8c9fb7a3c0c2b5297d3254b1d9514f7e07c967511690"],
  ["key scopes", "7b5d35c1f360c1e01e8109c8fe4a01b767bccdcedfd1e47ec214f5fec94d3cbb"],
  ["kept answers", "b4489c0f758cd736558f143f71194a79134cee0c4a2f3981a4ae917edd31366b"],
  ["event traces", "9c74e3842358f8d257debf8f380ba46e7bb54215c36c4a8a8456df4fd063b71c"],
  ["proven sessions", "b4d936a173ede8aeeb724c0db7336989053eb8176593303afef8fb1c08ffc264"],
  ["conversations", "97b348dc8a27a9e53e0adeeec5d64427b7ae8b1cab5594e0489b66b5ab54a030"],
  ["key bindings", "8cf3f6b58ff3dcfaabe8e2247e0db7c7a5b7f6b43634d7bea3545789980d53e1"],
  ["autovacuum", "b2eb08bc6d5dac24cf1ced9278fb3726d3195dec07eef6edd03c858bde44a61f"],
  ["queue", "3d9720f281a013b57ebbefe3884b91c405e5bdc924be7b25e84a9e6cf7e54f5e"],
  ["subscriptions", "bfbfc06ee863efed90e9575d9688c6ed42c99c04354515a001da16becfca67df"],
  ["outbox", "0a510a846eb3de01a84119188e1e5178628ecb2aa1b0e5def8a7241e4ace064e"],
  ["failed messages", "8b992778eb209983252ba425905f9f9eb2d569f9c2b1cc6632bc664849925b07"],
  ["request details", "e82d7e3cec1d4c7782e1c94caebcf742eb5418cb7100e2b69e05de5bd288f864"],
  ["unstarted campaigns", "885304643fdf05c06f182dbb2be893f178a45674cd7b734c125dd920d3fe4fb7"],
  ["second factors", "705f0d9e60fad6dd7f3f992871887b6c46b0c5b8698a0ac9e7e5f35fc34bf642"],
  ["campaign timelines", "d41d24a6d044da18c77ec10b71e77270067975a227e495a7b8ce04dec47f0566"],
  ["passkeys", "32ac37d673bd9b246ced6c2fb69ef5dc73b43b6da03e477a70b96c2e46cbfeb7"],
  ["usage timings", "623f10d6578e65eddda33a5c30352771f97614bc8a684cffdffc0d376cb6ab6a"],
  ["request values", "a8d53081801af37e175006d1bd89de8c07bb5809a8a66258c4b5ad3c4eae41df"],
  ["usage waiting", "34d1ced311c9ef9a33857e19ab1e3b76026355ecee872ca0a67c581bc87cfbeb"],
  ["outbox lines", "73e94653cc5bc95edaef6b254fb34b2182655ca0e84f5c347dd3821cd15a740d"],
  ["alert notifications", "ba7ab7e8af5d8566074103658e3a94f82ff4bf87e78304f1793cdec2121da293"],
  ["waiting bodies", "89460d326c869ca85f796a267ebfa64b15ea55d5a93236f850b2f17a0aa331cd"],
  ["erased entries", "0cc46fba06f6b98322ec37dc57ba732db978cfd04125f8c5fd8af968cd3cfd3e"],
  ["outbox fresh", "1e25fc10a02c261561899e223ad36971f9d22339cc72570f092fed77575e8d9e"],
  ["outbox again", "92a0243112c6c0c97c8c813fa30e69c20cdfc86bf98a7eba23b94460599d1e44"],
  ["retried replays", "6c10917c68f4a5235b40fba905d1c8ff85c9f706eed52b253ac8d5feb0038c3a"],
  ["skipped and opted out", "04ff22d32283ed851d49105fdbf6ec9fe42ddc50fcd462c4fe1d6cb8da33c376"],
  ["full buckets", "38276c4dad2398d277ae0ea10e08d7db1d8262f216a7110f7f8ed6f3e1b0f47b"],
  ["block basis", "47c528f888c1ed51964c9b03c5da21d73eda609d53a4524992489a2f07e67883"]
]

const present = Migrations.all.map(({ name, sql }) => [name, createHash("sha256").update(sql).digest("hex")] as const)

describe("migrations", () => {
  it("a recorded migration is the same, at the same place: a change of the schema is a new migration", () => {
    assert.deepStrictEqual(present.slice(0, record.length), record)
  })

  it("every migration is recorded: add what is missing to the record in this file", () => {
    assert.deepStrictEqual(present.slice(record.length), [])
  })
})
