// JavaScript, because the types of the library bring those of browsers into every module that is checked with this one.
import { common, createLowlight } from 'lowlight'

const lowlight = createLowlight(common)

export const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

function markup(node) {
  if (node.type === 'text') return escaped(node.value)
  const inner = node.children.map(markup).join('')
  const names = node.properties?.className
  return names === undefined ? inner : `<span class="${escaped(names.join(' '))}">${inner}</span>`
}

export const highlighted = (code, language) =>
  lowlight.registered(language) ? lowlight.highlight(language, code).children.map(markup).join('') : escaped(code)
