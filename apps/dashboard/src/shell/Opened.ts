/** A dialog of a page that an address can name, so that the command menu and links lead to it. */
import { useNavigate, useSearch } from "@tanstack/react-router"

/** Which one is open, and how to open another, or none. Back closes it. */
export const useOpened = <Name extends string>(names: ReadonlyArray<Name>) => {
  const { dialog } = useSearch({ strict: false }) as { readonly dialog?: string }
  const navigate = useNavigate()
  const opened = names.find((name) => name === dialog)
  const setOpened = (name: Name | undefined) =>
    void navigate({
      to: ".",
      // what is closed is not come back to
      replace: name === undefined,
      search: (({ dialog: _, ...search }: Record<string, unknown>) =>
        name === undefined ? search : { ...search, dialog: name }) as never
    })
  return [opened, setOpened] as const
}
