/** The field for a country, which is found by its name, its two-letter code or its calling code. */
import { Combobox } from "@base-ui/react/combobox"
import { callingCodes } from "../generated/CallingCodes.ts"
import { Field } from "../ui/Field.tsx"
import { marketName } from "../usage/Market.ts"

interface Country {
  /** ISO 3166-1 alpha-2. */
  readonly id: string
  readonly name: string
  readonly calling: string
}

const countries: ReadonlyArray<Country> = Object.entries(callingCodes)
  .map(([id, code]) => ({ id, name: marketName(id), calling: `+${code}` }))
  .toSorted((a, b) => a.name.localeCompare(b.name, "en"))

const plain = (text: string): string => text.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase()

const wordsOf = ({ calling, name }: Country): string => `${name} ${calling}`

/** Whether a country matches a search text. The code of a country in capital letters matches only this country. */
const isMatch = (country: Country, text: string): boolean => {
  const sought = text.trim()
  return sought in callingCodes
    ? country.id === sought
    : plain(wordsOf(country)).includes(plain(sought)) || plain(country.id) === plain(sought)
}

export const CountryField = ({ error, hint, label, onChange, param, value }: {
  readonly label: string
  readonly hint: string
  readonly error: unknown
  readonly param: string
  /** The two-letter code of the country; empty if none is chosen. */
  readonly value: string
  readonly onChange: (country: string) => void
}) => (
  <Field label={label} hint={hint} error={error} param={param}>
    {(control) => (
      <Combobox.Root
        items={countries}
        itemToStringLabel={wordsOf}
        filter={isMatch}
        autoHighlight
        value={countries.find(({ id }) => id === value) ?? null}
        onValueChange={(country) => onChange(country?.id ?? "")}
      >
        <Combobox.Input
          {...control}
          // while the list is open, everything around it is hidden from screen readers, even the label
          aria-label={label}
          autoComplete="off"
          placeholder="Name or code"
          className="field max-w-80"
        />
        <Combobox.Portal>
          <Combobox.Positioner sideOffset={4} className="z-10">
            <Combobox.Popup className="card w-(--anchor-width) p-1">
              <Combobox.Empty className="not-empty:px-2.5 not-empty:py-2">No country is called so.</Combobox.Empty>
              <Combobox.List aria-label="Countries" className="max-h-72 scroll-py-1 overflow-y-auto">
                {(country: Country) => (
                  <Combobox.Item
                    key={country.id}
                    value={country}
                    className="flex cursor-pointer justify-between gap-3 rounded-md px-2.5 py-1.5 data-highlighted:bg-accent-soft data-highlighted:text-accent"
                  >
                    <span>{country.name}</span>
                    <span className="tabular-nums">{country.calling}</span>
                  </Combobox.Item>
                )}
              </Combobox.List>
            </Combobox.Popup>
          </Combobox.Positioner>
        </Combobox.Portal>
      </Combobox.Root>
    )}
  </Field>
)
