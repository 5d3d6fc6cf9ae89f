import { styleText } from 'node:util'

export type Colour = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan'
export type Paint = (colour: Colour, text: string) => string

/** Colours for a stream: only on a terminal, and not if NO_COLOR is set. */
export function painter(stream: { isTTY?: boolean }, env: Readonly<Record<string, string | undefined>>): Paint {
  const on = stream.isTTY === true && (env.NO_COLOR ?? '') === '' && env.TERM !== 'dumb'
  return on ? (colour, text) => styleText(colour, text, { validateStream: false }) : (_, text) => text
}
