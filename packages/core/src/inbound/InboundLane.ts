/**
 * Divides provider items into lanes: items about the same message, customer, template or number must be applied in
 * order, all others may be applied concurrently. So a thousand items do not wait for a thousand storage round trips in
 * turn. Pure.
 */
import type { Customer } from "../contacts/Contact.ts"
import * as CustomerNames from "../contacts/CustomerNames.ts"
import type { InboundItem } from "./InboundItem.ts"

const contact = (providerNumberId: string, customer: Customer): ReadonlyArray<string> =>
  CustomerNames.keysIn(customer).map((name) => `contact ${providerNumberId} ${name}`)

/** Every name of the objects that an item is about. Items that share a name must keep their order. */
const namesIn = (item: InboundItem): ReadonlyArray<string> => {
  switch (item._tag) {
    case "Status":
      return [item.reference, item.report.providerMessageId]
        .filter((name) => name !== null)
        .map((name) => `message ${name}`)
    case "Message":
      return contact(item.message.providerNumberId, item.message.customer)
    case "Preference":
      return contact(item.providerNumberId, item.customer)
    case "CustomerMoved":
      return [...contact(item.providerNumberId, item.from), ...contact(item.providerNumberId, item.to)]
    case "Template":
      return [`template ${item.providerAccountId} ${item.name} ${item.language}`]
    case "TemplatesChanged":
      return [`templates ${item.providerAccountId}`]
    case "Number":
      return [`number ${Object.values(item.number).join(" ")}`]
    case "Skipped":
      return []
  }
}

/** Divides items into lanes, by union-find over their names. Each lane keeps the items' order. Pure. */
export const divide = <A>(
  all: ReadonlyArray<A>,
  itemOf: (one: A) => InboundItem
): ReadonlyArray<ReadonlyArray<A>> => {
  const parents = new Map<string, string>()
  const rootOf = (name: string): string => {
    let root = name
    for (let parent = parents.get(root); parent !== undefined; parent = parents.get(root)) root = parent
    // path compression: shortens the next lookup
    if (root !== name) parents.set(name, root)
    return root
  }
  const named = all.map((one) => ({ one, names: namesIn(itemOf(one)) }))
  for (const { names: [first, ...others] } of named) {
    for (const other of others) {
      const [from, to] = [rootOf(other), rootOf(first!)]
      if (from !== to) parents.set(from, to)
    }
  }
  const lanes = new Map<string, Array<A>>()
  const alone: Array<ReadonlyArray<A>> = []
  for (const { names: [first], one } of named) {
    if (first === undefined) {
      alone.push([one])
      continue
    }
    const root = rootOf(first)
    const lane = lanes.get(root)
    if (lane === undefined) lanes.set(root, [one])
    else lane.push(one)
  }
  return [...lanes.values(), ...alone]
}
