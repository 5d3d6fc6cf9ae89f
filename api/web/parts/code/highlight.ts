import bash from 'highlight.js/lib/languages/bash'
import c from 'highlight.js/lib/languages/c'
import csharp from 'highlight.js/lib/languages/csharp'
import css from 'highlight.js/lib/languages/css'
import go from 'highlight.js/lib/languages/go'
import java from 'highlight.js/lib/languages/java'
import json from 'highlight.js/lib/languages/json'
import markdown from 'highlight.js/lib/languages/markdown'
import python from 'highlight.js/lib/languages/python'
import ruby from 'highlight.js/lib/languages/ruby'
import rust from 'highlight.js/lib/languages/rust'
import sql from 'highlight.js/lib/languages/sql'
import typescript from 'highlight.js/lib/languages/typescript'
import xml from 'highlight.js/lib/languages/xml'
import yaml from 'highlight.js/lib/languages/yaml'
import { createLowlight } from 'lowlight'

/** A part of a line in one colour. `kind` empty: plain text. */
export interface CodePiece {
  readonly text: string
  readonly kind: string
}

const grammars = { bash, c, csharp, css, go, java, json, markdown, python, ruby, rust, sql, typescript, xml, yaml }
const lowlight = createLowlight(grammars)

const BY_EXTENSION: Readonly<Record<string, keyof typeof grammars>> = {
  ...{ sh: 'bash', bash: 'bash', zsh: 'bash', c: 'c', h: 'c', cc: 'c', cpp: 'c', hpp: 'c', cs: 'csharp', css: 'css' },
  ...{ go: 'go', java: 'java', kt: 'java', json: 'json', md: 'markdown', py: 'python', rb: 'ruby', rs: 'rust' },
  ...{ sql: 'sql', ts: 'typescript', tsx: 'typescript', js: 'typescript', jsx: 'typescript', mjs: 'typescript' },
  ...{ cjs: 'typescript', mts: 'typescript', html: 'xml', xml: 'xml', svg: 'xml', vue: 'xml' },
  ...{ yml: 'yaml', yaml: 'yaml' },
}

type Node = { type: string; value?: string; properties?: { className?: readonly string[] }; children?: Node[] }

/** The lines of a text with their colours. Null: the file's language is unknown. `path`: gives the language. */
export function highlight(text: string, path: string): readonly (readonly CodePiece[])[] | null {
  const language = BY_EXTENSION[/\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase() ?? '']
  if (language === undefined) return null
  const lines: CodePiece[][] = [[]]
  const walk = (node: Node, kind: string): void => {
    const own = node.properties?.className?.[0] ?? kind
    for (const [i, text] of (node.value ?? '').split('\n').entries()) {
      if (i > 0) lines.push([])
      if (text !== '') lines.at(-1)!.push({ text, kind: own })
    }
    for (const child of node.children ?? []) walk(child, own)
  }
  walk(lowlight.highlight(language, text) as Node, '')
  return lines
}
