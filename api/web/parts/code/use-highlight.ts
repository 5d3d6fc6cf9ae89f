import { signal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import type { CodePiece } from './highlight.ts'
import { kindsOf } from './patch-lines.ts'

export type Lines = readonly (readonly CodePiece[] | undefined)[]
type Highlight = typeof import('./highlight.ts').highlight

/** Longer texts stay without colours. In characters (UTF-16 code units). */
const MOST = 100_000

/** Null: not loaded. The browser loads the highlighter when it first shows code. */
const highlighter = signal<Highlight | null>(null)
let isLoading = false
async function load(): Promise<void> {
  if (isLoading) return
  isLoading = true
  try {
    highlighter.value = (await import('./highlight.ts')).highlight
  } catch {
    // Without the file the text stays plain. The next text tries again.
    isLoading = false
  }
}

const NONE: Lines = []

function useLines(text: string, of: (highlight: Highlight) => Lines | null): Lines {
  const highlight = highlighter.value
  useEffect(() => void load(), [])
  return useMemo(() => (highlight === null || text.length > MOST ? NONE : (of(highlight) ?? NONE)), [text, highlight])
}

/** The lines of a file in the colours of its language. Empty: still loading, or without colours. */
export const useCodeColours = (text: string, path: string): Lines =>
  useLines(text, (highlight) => highlight(text, path))

/** The lines of a unified diff in the colours of its files. Each side of the difference is coloured as a whole. */
export const usePatchColours = (patch: string): Lines =>
  useLines(patch, (highlight) => {
    const lines = patch.split('\n')
    const kinds = kindsOf(lines)
    const colours: (readonly CodePiece[] | undefined)[] = []
    const starts = lines.flatMap((line, i) => (kinds[i] === 'head' && line.startsWith('+++ ') ? [i] : []))
    for (const [n, start] of starts.entries()) {
      const places = Array.from({ length: (starts[n + 1] ?? lines.length) - start }, (_, i) => start + i)
      for (const left of ['added', 'removed']) {
        const side = places.filter((i) => kinds[i] === '' || (kinds[i] === left && lines[i] !== undefined))
        const text = side.map((i) => lines[i]!.slice(1)).join('\n')
        const found = highlight(text, lines[start]!.replace(/\t.*$/, ''))
        side.forEach((place, i) => {
          colours[place] = found?.[i]
        })
      }
    }
    return colours
  })
