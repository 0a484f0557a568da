/** The question before what is shown only once disappears. */
import { useBlocker } from "@tanstack/react-router"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"
import { t } from "./Language.ts"

/** Only the browser leaves a page under a dialog; the pages themselves navigate only to close it. */
const isByBrowser = ({ action }: { readonly action: string }): boolean => action !== "PUSH" && action !== "REPLACE"

/**
 * While it is rendered, Back and Forward lead away only after a question. The browser itself asks before it reloads or
 * closes the page. `onLeave` closes what no address names, which Back alone may leave open.
 */
export const AskBeforeLeaving = ({ onLeave }: { readonly onLeave?: () => void }) => {
  const { proceed, reset, status } = useBlocker({ shouldBlockFn: isByBrowser, withResolver: true })
  return status === "idle"
    ? null
    : (
      <Dialog title={t("Leave this page?")} isDismissible onClose={reset} width="max-w-md">
        <p>{t("What it shows is not shown again. If you have not stored it, it is lost.")}</p>
        <div className="mt-4 flex flex-wrap justify-end gap-2">
          <Button onClick={reset}>{t("Stay")}</Button>
          <Button
            look="destroy"
            onClick={() => {
              proceed()
              onLeave?.()
            }}
          >
            {t("Leave")}
          </Button>
        </div>
      </Dialog>
    )
}
