/** Dialogs, which open over a page and hold the keyboard focus until they are closed, and one that asks to confirm. */
import { Dialog as Base } from "@base-ui/react/dialog"
import { useMutation, useQueryClient } from "@tanstack/react-query"
import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { Failure } from "./Failure.tsx"
import { elsewhere } from "./Field.tsx"
import { t } from "./Language.ts"

/** Whether a dialog is open. Then nothing may open over it or leave the page: it may show what is shown only once. */
export const isAsking = (): boolean => document.querySelector("[data-asking]") !== null

/** A dialog. It is rendered only while it is open, so its content starts from the beginning each time. */
export const Dialog = (
  { children, isDismissible, onClose, title, width = "max-w-lg" }: {
    readonly title: string
    readonly onClose: () => void
    /** Whether Escape and a click beside the dialog close it; not while it waits for a response that it has to show. */
    readonly isDismissible: boolean
    readonly width?: string
    readonly children: ReactNode
  }
) => (
  <Base.Root
    open
    onOpenChange={(open) => {
      if (!open && isDismissible) onClose()
    }}
    disablePointerDismissal={!isDismissible}
  >
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 animate-appear bg-scrim" />
      <Base.Viewport className="fixed inset-0 z-40 flex items-start justify-center overflow-y-auto p-3 sm:p-10">
        <Base.Popup data-asking className={`card animate-appear my-auto w-full ${width} p-5 shadow-xl`}>
          <Base.Title className="mb-3 text-lg font-semibold">{title}</Base.Title>
          {children}
        </Base.Popup>
      </Base.Viewport>
    </Base.Portal>
  </Base.Root>
)

/**
 * A dialog that asks a person to confirm an act; its text says, with numbers, what the act will do. It makes
 * the request itself, so that an error disappears with the dialog. All queries are refetched afterwards.
 */
export function Confirm<Answer>(
  { act, action, children, dismiss = t("Cancel"), look = "destroy", onClose, onDone = onClose, param, refusal, title }:
    {
      readonly title: string
      /** The label of the button that confirms. */
      readonly action: string
      readonly look?: "primary" | "destroy"
      /** The label of the button that closes the dialog without the act. */
      readonly dismiss?: string
      /** Why the act cannot be confirmed now. */
      readonly refusal?: string | undefined
      /** Makes the request, once the person has confirmed. */
      readonly act: () => Promise<Answer>
      readonly onClose: () => void
      /** Called after a success; by default, closes the dialog. */
      readonly onDone?: (answer: Answer) => unknown
      /** The name of the field in the content that shows its own errors; the dialog does not repeat these. */
      readonly param?: string
      readonly children: ReactNode | ((error: unknown) => ReactNode)
    }
) {
  const client = useQueryClient()
  const run = useMutation({ mutationFn: act, onSuccess: onDone, onSettled: () => client.invalidateQueries() })
  return (
    <Dialog title={title} isDismissible={!run.isPending} onClose={onClose} width="max-w-md">
      {/* only the button confirms; Enter in a field does not */}
      <form className="space-y-4" onSubmit={(event) => event.preventDefault()}>
        <div>{typeof children === "function" ? children(run.error) : children}</div>
        <Failure error={param === undefined ? run.error : elsewhere(run.error, param)} />
        <div className="flex flex-wrap justify-end gap-2">
          <Button isPending={run.isPending} onClick={onClose}>{dismiss}</Button>
          <Button
            look={look}
            refusal={refusal}
            isPending={run.isPending}
            onClick={({ currentTarget: { form } }) => {
              // a half-filled field has no value, and an empty value could mean something else
              if (form?.reportValidity() !== false) run.mutate()
            }}
          >
            {action}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}
