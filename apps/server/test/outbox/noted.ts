/**
 * A provider that notes in a file whom each message was sent to, so that what was sent is known whoever is killed.
 */
import { appendFileSync } from "node:fs"
import type { CustomProvider } from "wac"

/** The provider whose file this is. */
export const noted = (file: string): CustomProvider => ({
  name: "noted",
  phoneNumber: "+15550001000",
  templates: async () => [{
    providerTemplateId: "1",
    name: "hello_world",
    language: "en_US",
    category: "utility",
    status: "approved",
    components: [{ type: "BODY", text: "Hello" }]
  }],
  send: async ({ to }) => {
    appendFileSync(file, `${to}\n`)
    return { status: "accepted", providerMessageId: `${to} ${Math.random()}` }
  }
})
