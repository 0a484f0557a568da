/** The button that opts out all contacts of a list's filter, after a confirmation and with a progress. */
import type { Contact } from "@wac/client/internal"
import { type ComponentProps, useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, isNotFound } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { BulkDialog, type LeftOut } from "../ui/BulkDialog.tsx"
import { Button } from "../ui/Button.tsx"
import { counted } from "../ui/Words.ts"

const gone: LeftOut = ["is no longer there", "are no longer there"]

const whyNot = (error: unknown): LeftOut => {
  if (isNotFound(error)) return gone
  throw error
}

/** There is no such button for the way back: each customer consents alone. */
export const OptOutAll = (
  { filter, walk }: {
    readonly filter: ReadonlyArray<readonly [name: string, value: string]>
    readonly walk: ComponentProps<typeof BulkDialog<Contact>>["walk"]
  }
) => {
  const refusal = useRefusal(RoleOf.contactsOptOut)
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <div>
        <Button look="danger" refusal={refusal} onClick={() => setAsked(true)}>Opt out all…</Button>
      </div>
      {isAsked
        ? (
          <BulkDialog
            title={(count) => `Opt out ${count === undefined ? "contacts" : counted(count, "contact", "contacts")}?`}
            noun="contact"
            action="Opt out contacts"
            look="destroy"
            done="opted out"
            filter={filter}
            walk={walk}
            fits={({ optedOut }) => !optedOut}
            act={({ id }) => api.contacts.optOut(id).then(() => undefined, whyNot)}
            onClose={() => setAsked(false)}
          >
            No free-form text and no marketing template is sent to them from this number any more, until they write
            START, or until a person opts them in, one by one.
          </BulkDialog>
        )
        : null}
    </>
  )
}
