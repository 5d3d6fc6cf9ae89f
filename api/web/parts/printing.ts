import { effect, signal } from '@preact/signals'

/** True while the page is printed: lists then contain all their rows. */
export const printing = signal(false)
/** The most rows of a list that are printed. */
export const MOST_PRINTED = 5_000

/** What is still loading for the printed page. */
const loading = signal<ReadonlySet<object>>(new Set())

/** Reports that a part of the page starts or ends loading, so that printing waits for it. */
export function setLoading(part: object, isLoading: boolean): void {
  if (loading.peek().has(part) === isLoading) return
  const next = new Set(loading.peek())
  if (isLoading) next.add(part)
  else next.delete(part)
  loading.value = next
}

/** From the last load to the print, in ms: loaded rows ask for further content when they are drawn. */
const SETTLED = 150
/** The page is printed after this time with what has loaded, in ms. */
const LONGEST = 60_000

/** Prints the whole page: all rows of its lists, after their content has loaded. */
export async function printPage(): Promise<void> {
  if (printing.value) return
  printing.value = true
  try {
    await settled()
    // Returns when the page was printed, or the person has left the dialog.
    print()
  } finally {
    printing.value = false
  }
}

/** Resolves when nothing has been loading for a while, or after {@link LONGEST}. */
const settled = (): Promise<void> =>
  new Promise((resolve) => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const done = () => {
      clearTimeout(timer)
      clearTimeout(limit)
      stop()
      resolve()
    }
    const limit = setTimeout(done, LONGEST)
    const stop = effect(() => {
      clearTimeout(timer)
      if (loading.value.size === 0) timer = setTimeout(done, SETTLED)
    })
  })
