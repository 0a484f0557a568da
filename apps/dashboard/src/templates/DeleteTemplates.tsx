/** The button that deletes all templates of a list's filter, after a confirmation and with a progress. */
import { WacError } from "@wac/client/internal"
import { type ComponentProps, useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { api, isNotFound } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { BulkDialog, type LeftOut } from "../ui/BulkDialog.tsx"
import { Button } from "../ui/Button.tsx"
import { grouped } from "../ui/Language.ts"
import { counted } from "../ui/Words.ts"

const gone: LeftOut = ["is no longer there", "are no longer there"]
const kept: LeftOut = ["is kept by the provider", "are kept by the provider"]

/** Why a template can never be deleted, from the service's refusal; throws all other errors. */
const whyNot = (error: unknown): LeftOut => {
  if (isNotFound(error)) return gone
  if (error instanceof WacError && error.code === "invalid_body") return kept
  throw error
}

export const DeleteTemplates = (
  { count, filter, walk }: {
    /** How many templates the filter has; `undefined` if the list goes on after the page that is shown. */
    readonly count: number | undefined
    readonly filter: ReadonlyArray<readonly [name: string, value: string]>
    readonly walk: ComponentProps<typeof BulkDialog<{ readonly id: string }>>["walk"]
  }
) => {
  const refusal = useRefusal(RoleOf.templatesRemove)
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      {count === 0 ? null : (
        <div>
          <Button look="danger" refusal={refusal} onClick={() => setAsked(true)}>
            {count === undefined ? "Delete all…" : `Delete all ${grouped(count)}…`}
          </Button>
        </div>
      )}
      {isAsked
        ? (
          <BulkDialog
            title={(count) => `Delete ${count === undefined ? "templates" : counted(count, "template", "templates")}?`}
            noun="template"
            action="Delete templates"
            look="destroy"
            done="deleted"
            filter={filter}
            walk={walk}
            fits={() => true}
            act={({ id }) => api.templates.remove(id).then(() => undefined, whyNot)}
            onClose={() => setAsked(false)}
          >
            They are deleted at the provider too, and this cannot be undone. They can no longer be sent, by your
            programs and campaigns either.
          </BulkDialog>
        )
        : null}
    </>
  )
}
