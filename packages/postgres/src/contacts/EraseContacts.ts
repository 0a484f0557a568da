/**
 * Erases the contacts of a customer, and what sends to the customer have spent. Opt-outs stay, without the name
 * (`Suppression.erased`).
 */
import { type Contact, CustomerStore, type Id, Limits, type Step, Suppression } from "@wac/core"
import { list } from "../Columns.ts"
import type { StepOptions } from "../Database.ts"
import { type Statement, statement, value } from "../Statement.ts"
import { contact, contactOf } from "./ContactStep.ts"
import * as StoredSuppression from "./StoredSuppression.ts"

const workspaceId = value<Id.WorkspaceId>()

const lockWorkspace = statement({ workspaceId }, ({ workspaceId }) => `
  select w.id from wac.workspaces w where w.id = ${workspaceId} for no key update`)

const lockContacts = statement({ workspaceId }, ({ workspaceId }) => `
  select pg_advisory_xact_lock(hashtext('wac:contacts'), l.name) from (
    select distinct hashtext(p.id) as name from wac.phone_numbers p where p.workspace_id = ${workspaceId} order by 1
  ) l`)

const lockNumbers = statement({ workspaceId }, ({ workspaceId }) => `
  select p.id from wac.phone_numbers p where p.workspace_id = ${workspaceId} order by p.id for no key update`)

const erased = { workspaceId, keys: list<string>("text") }

const loadContacts = statement(erased, ({ keys, workspaceId }) => `
  select ${contact.names("n")} from wac.phone_numbers p
  cross join lateral (
    select n.* from wac.contacts n where n.phone_number_id = p.id and n.key = any (${keys}) offset 0
  ) n
  where p.workspace_id = ${workspaceId}`)

const pair = Limits.pairBucket("%1$s" as Id.PhoneNumberId, "%2$s")

const removeBuckets = statement(erased, ({ keys, workspaceId }) => `
  with buckets_gone as (
    delete from wac.buckets b where b.key = any (array(
      select format('${pair}', p.id, k.key) from wac.phone_numbers p cross join unnest(${keys}) k (key)
      where p.workspace_id = ${workspaceId}
    ))
    returning b.phone_number_id, b.counted_at
  )
  update wac.phone_numbers p set customers_counted = greatest(p.customers_counted - g.customers, 0)
  from (
    select g.phone_number_id, count(*)::integer as customers from buckets_gone g
    where g.counted_at is not null group by 1
  ) g
  where p.id = g.phone_number_id`)

const removeContacts = statement(erased, ({ keys, workspaceId }) => `
  delete from wac.contacts n using wac.phone_numbers p
  where p.workspace_id = ${workspaceId} and n.phone_number_id = p.id and n.key = any (${keys})`)

interface Loaded extends Step.Known {
  readonly contacts: ReadonlyArray<Contact.Contact>
  readonly suppressions: ReadonlyArray<Suppression.Suppression>
}

interface Writes {
  readonly step: CustomerStore.EraseStep
  readonly suppressions: Suppression.Changes
}

const erasedOf = ({ names: { keys }, workspaceId }: CustomerStore.EraseStep) => ({ workspaceId, keys })

/**
 * `CustomerStore.erase` in `contacts`. Locks in the order of all steps: the workspace, contacts, numbers with buckets.
 */
export const eraseContacts: StepOptions<CustomerStore.EraseStep, Loaded, CustomerStore.Erased, Writes> = {
  size: 1,
  load: ([step]) => {
    const { workspaceId } = step!
    return [
      lockWorkspace({ workspaceId }),
      lockContacts({ workspaceId }),
      lockNumbers({ workspaceId }),
      loadContacts(erasedOf(step!)),
      StoredSuppression.load({ hashes: Object.values(step!.hashes).map((hash) => ({ workspaceId, hash })) })
    ]
  },
  read: ([, , , contacts, suppressions], now) => ({
    now,
    contacts: contacts!.map(contactOf),
    suppressions: suppressions!.map(StoredSuppression.reader.read)
  }),
  decide: ({ contacts, suppressions }, [step]) => {
    const { hashes, workspaceId } = step!
    return {
      answers: [{ ...CustomerStore.nothing, erased: contacts.length }],
      writes: { step: step!, suppressions: Suppression.erased(workspaceId, hashes, contacts, suppressions) }
    }
  },
  write: ({ step, suppressions }): ReadonlyArray<Statement> => [
    removeBuckets(erasedOf(step)),
    removeContacts(erasedOf(step)),
    ...StoredSuppression.write(suppressions)
  ]
}
