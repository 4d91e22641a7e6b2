import { readFileSync } from 'node:fs'

/** The fenced blocks of one language in a Markdown file, in order. */
export function fencedBlocks(file: string, language: string): string[] {
  const text = readFileSync(file, 'utf8')
  return [...text.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  )
}

/** The commands of a page, a line each. */
export function commandsOf(file: string): string[] {
  return fencedBlocks(file, 'sh').flatMap((block) => block.split('\n').filter((line) => line.trim() !== ''))
}

/** The words of a command as a shell would see them: quotes only, because a page that needs more is too clever. */
export function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+(?:'[^']*'|"[^"]*")?)/g)].map(
    ([whole, single, double]) => single ?? double ?? whole.replace(/['"]/g, ''),
  )
}
