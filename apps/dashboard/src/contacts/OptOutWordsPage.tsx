/**
 * The page for the words by which customers opt out and in: the workspace's own words, and the defaults by language.
 */
import type { OptOutSettings } from "@wac/client/internal"
import { useState } from "react"
import * as RoleOf from "../generated/RoleOf.ts"
import { useFresh, useSave } from "../session/Save.ts"
import { api } from "../session/Service.ts"
import { useRefusal } from "../session/Session.tsx"
import { Button } from "../ui/Button.tsx"
import { entriesIn, textsOf } from "../ui/Entries.ts"
import { Failure } from "../ui/Failure.tsx"
import { elsewhere, Field } from "../ui/Field.tsx"
import { Loaded } from "../ui/Loaded.tsx"
import { Notice } from "../ui/Notice.tsx"
import { Page, Section } from "../ui/Page.tsx"

/** The English name of a language, or its code. */
const languageName = (code: string): string => new Intl.DisplayNames("en", { type: "language" }).of(code) ?? code

/** Whether two words are the same, as far as this page must know; the service compares words by its own rule. */
const isSameWord = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase()

const Words = ({ lang, onToggle, removed, words }: {
  readonly lang: string
  readonly words: ReadonlyArray<string>
  readonly removed: ReadonlyArray<string>
  readonly onToggle: (word: string) => void
}) => (
  <ul className="flex flex-wrap gap-1.5">
    {words.map((word) => {
      const isRemoved = removed.some((one) => isSameWord(one, word))
      return (
        <li key={word}>
          <Button
            small
            aria-label={`${isRemoved ? "Add back" : "Take away"} “${word}”`}
            onClick={() => onToggle(word)}
          >
            <span lang={lang} dir="auto" className={isRemoved ? "text-muted line-through" : ""}>{word}</span>
          </Button>
        </li>
      )
    })}
  </ul>
)

const WordsForm = ({ settings }: { readonly settings: OptOutSettings }) => {
  const [stopWords, setStopWords] = useState(settings.stopWords.join("\n"))
  const [startWords, setStartWords] = useState(settings.startWords.join("\n"))
  const [removed, setRemoved] = useState(settings.removed)
  const { error, isPending, save, saved } = useSave(
    { removed, startWords, stopWords },
    ({ removed, startWords, stopWords }) =>
      api.optOuts.setWords({
        stopWords: textsOf(entriesIn(stopWords)),
        startWords: textsOf(entriesIn(startWords)),
        removed
      }),
    { first: settings, read: () => api.optOuts.words() }
  )
  const toggle = (word: string) =>
    setRemoved((removed) =>
      removed.some((one) => isSameWord(one, word))
        ? removed.filter((one) => !isSameWord(one, word))
        : [...removed, word]
    )
  return (
    <form
      className="space-y-6"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isPending) save()
      }}
    >
      <Section
        title="Your own words"
        description="Besides the defaults. A word counts only if it is the whole message, or the whole text of a button."
      >
        <div className="grid max-w-2xl gap-4 sm:grid-cols-2">
          <Field
            label="Words that opt out"
            hint="One per line."
            error={error}
            param="stopWords"
            entries={entriesIn(stopWords)}
          >
            {(control) => (
              <textarea
                {...control}
                rows={4}
                className="field"
                value={stopWords}
                onChange={(event) => setStopWords(event.target.value)}
              />
            )}
          </Field>
          <Field
            label="Words that opt in"
            hint="One per line."
            error={error}
            param="startWords"
            entries={entriesIn(startWords)}
          >
            {(control) => (
              <textarea
                {...control}
                rows={4}
                className="field"
                value={startWords}
                onChange={(event) => setStartWords(event.target.value)}
              />
            )}
          </Field>
        </div>
        <div className="mt-4 space-y-4">
          <Failure error={elsewhere(error, "stopWords", "startWords")} />
          {saved === undefined ? null : <Notice tone="good" role="status">Saved.</Notice>}
          <Button type="submit" isPending={isPending}>Save</Button>
        </div>
      </Section>
      <Section
        title="Defaults"
        description="Press a word to take it away, or to add it back, and save. A word counts in every language at once."
      >
        <dl className="space-y-3">
          {settings.defaults.map(({ language, startWords, stopWords }) => (
            <div key={language} className="grid gap-2 border-b border-line pb-3 sm:grid-cols-[9rem_1fr_1fr]">
              <dt className="font-medium">{languageName(language)}</dt>
              <dd>
                <p className="mb-1 text-[13px] text-muted">Opt out</p>
                <Words lang={language} words={stopWords} removed={removed} onToggle={toggle} />
              </dd>
              <dd>
                <p className="mb-1 text-[13px] text-muted">Opt in</p>
                <Words lang={language} words={startWords} removed={removed} onToggle={toggle} />
              </dd>
            </div>
          ))}
        </dl>
      </Section>
    </form>
  )
}

export const OptOutWordsPage = () => {
  const refusal = useRefusal(RoleOf.suppressionsWords, RoleOf.suppressionsSetWords)
  const query = useFresh({
    queryKey: ["opt-out-words"],
    queryFn: ({ signal }) => api.optOuts.words({ signal }),
    enabled: refusal === undefined
  })
  return (
    <Page title="Opt-out words" lead="The words by which customers stop your messages, and start them again.">
      {refusal === undefined
        ? <Loaded query={query} lines={8}>{(settings) => <WordsForm settings={settings} />}</Loaded>
        : <Notice>{refusal}</Notice>}
    </Page>
  )
}
