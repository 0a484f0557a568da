/** The buttons for the actions on a template: edit, add a language, delete. */
import { Link } from "@tanstack/react-router"
import type { TemplateDetail } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button, buttonClass } from "../ui/Button.tsx"
import { Confirm } from "../ui/Dialog.tsx"
import { useRemoveTemplate } from "./SaveTemplate.ts"

export const TemplateActions = ({ template }: { readonly template: TemplateDetail }) => {
  const { id, language, name } = template
  const refusal = useRefusal(RoleOf.templatesEdit, RoleOf.templatesRemove, RoleOf.templatesCreate)
  const [isAsked, setAsked] = useState(false)
  const remove = useRemoveTemplate(template)
  return (
    <>
      {refusal === undefined
        ? (
          <>
            <Link to="/templates/$id/edit" params={{ id }} className={buttonClass()}>Edit</Link>
            <Link to="/templates/new" search={{ like: id }} className={buttonClass()}>Add a language</Link>
          </>
        )
        : <Button refusal={refusal}>Edit</Button>}
      <Button look="danger" refusal={refusal} onClick={() => setAsked(true)}>Delete…</Button>
      {isAsked
        ? (
          <Confirm
            title={`Delete ${name} in ${language}?`}
            action="Delete template"
            {...remove}
            onClose={() => setAsked(false)}
          >
            It is deleted at the provider too, and this cannot be undone. It can no longer be sent, by your programs and
            campaigns either. Templates of the same name in other languages stay.
          </Confirm>
        )
        : null}
    </>
  )
}
