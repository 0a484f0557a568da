/**
 * Which items of upstream's have to be applied one after the other: those that tell of the same thing. All others may go
 * side by side, so that a thousand of them do not wait for a thousand answers of the storage in turn.
 */
import type { InboundItem } from "./Inbound.ts"

/** The name of what an item tells of. Items of one lane keep their order. Pure. */
export const of = (item: InboundItem): string => {
  switch (item._tag) {
    // every report names the message as upstream does; our own reference may be missing in some of them
    case "Status":
      return `message ${item.report.providerMessageId ?? item.reference}`
    case "Message":
      return `contact ${item.message.providerNumberId} ${item.message.customer}`
  }
}
