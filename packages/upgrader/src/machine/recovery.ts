import type { Step } from './steps.ts'

/** What a step does, and for what a dead updater may have left: what the next one finds and what it does then. */
export interface Recovery {
  readonly does: string
  readonly found: readonly (readonly [disk: string, next: string])[]
}

const again = (disk: string): Recovery['found'][number] => [disk, 'the step is done again']

/** Every step by what is on disk. Where it goes on is `RULES`; this says why that is right. */
export const RECOVERY: Readonly<Record<Step, Recovery>> = {
  E0: { does: 'the intent is on disk', found: [again('the intent, and no lock')] },
  E1: {
    does: 'takes the lock of the node',
    found: [['a lock whose holder is dead', 'it is taken over, with a line in the log']],
  },
  E2: { does: 'checks all that can fail without touching the agent', found: [again('nothing new')] },
  E3: {
    does: 'fetches and verifies the new files',
    found: [again('some of them, and layers on their way: a layer is continued, the rest goes first')],
  },
  E4: {
    does: 'checks platform and version of the new program',
    found: [again('the staged files, which are fetched and verified anew')],
  },
  E4c: {
    does: 'waits for a person, with the lock free',
    found: [again('the staged files, and perhaps the confirmation')],
  },
  prepared: {
    does: 'rests until the hub permits the stop',
    found: [['the staged files', 'nothing runs; a permission starts an updater']],
  },
  E5: {
    does: 'checks again, backs up, places the new files beside the old, asks for the permission last',
    found: [
      again('half a backup, which does not count because its list is written last'),
      ['a whole backup and files beside the agent', 'both are hashed again and used'],
      ['the gate passed, and the agent stands still', 'the journal has lost its end: see below'],
    ],
  },
  E6: {
    does: 'holds the supervisor back and stops the agent',
    found: [['the old agent, stopped or not', 'same boot: stopped again; after a reboot it runs and stays']],
  },
  E7: {
    does: 'moves each new file over the old by rename, the agent last; the old file keeps a second name',
    found: [
      ['the old file at the path, the new one beside it', 'it is hashed and moved'],
      ['the new file at the path', 'its hash says so and nothing is done'],
    ],
  },
  E8: {
    does: 'starts the new agent; each start is counted on disk before it',
    found: [
      ['the new agent, running or not', 'it is started, the third time at most'],
      ['three starts counted', 'the way back'],
    ],
  },
  E9: {
    does: 'proves the new agent: runs on, says its version, passes its probes',
    found: [['the new agent on trial', 'the trial begins anew; after a reboot with a counted start']],
  },
  E10: {
    does: 'commits: what runs is what was verified and proven',
    found: [['the proven agent', 'the same is looked at again; one that ended since leads to the way back']],
  },
  R5: {
    does: 'checks that every file to put back has a whole copy',
    found: [
      ['the backup, and the old file under its second name', 'either is enough'],
      ['neither is whole', 'R10: whatever whole agent is there is started'],
    ],
  },
  R6: { does: 'stops the new agent', found: [['old and new files mixed', 'each of them is whole']] },
  R7: {
    does: 'puts each old file back by rename, the database if the new agent may have changed it',
    found: [['some put back, some not', 'hashes say which; the others follow']],
  },
  R8: { does: 'starts the old agent', found: [['the old agent, running or not', 'it is started']] },
  R9: {
    does: 'proves the old agent',
    found: [['the old agent on trial', 'the trial begins anew; a failed one leads to R5 twice']],
  },
  R10: {
    does: 'starts whatever whole agent is there; this node needs a person',
    found: [['a whole agent, old or new', 'it is started']],
  },
  E11: {
    does: 'puts the result into the spool, then posts it',
    found: [
      ['the result in the spool', 'it is posted by edgehub until the hub has it'],
      ['no room for the result', 'the staged files go first; then the next updater tries again'],
    ],
  },
  E12: { does: 'clears what was staged and placed', found: [again('what is left of it')] },
  ended: {
    does: 'rests; the outcome is kept for those who ask again',
    found: [['the journal with its end', 'nothing']],
  },
}

/** State that cannot be read, whatever the step was. */
export const DAMAGED: readonly (readonly [file: string, next: string])[] = [
  ['a last line of the journal without its end', 'a power cut: its effect never began, it is cut off'],
  [
    'a journal that is damaged, missing or shorter than the gate says',
    'it is set aside; the agent that is there is started and watched; one that does not live is replaced by the backup; `StateUnreadable`',
  ],
  ['the intent', 'the journal has a copy'],
  ['intent and journal', 'as a damaged journal, for the first component'],
  ['the permission', 'as if it was never given: the hub gives it again'],
  ['the gate', 'a cancel that was answered counts; otherwise it is open'],
  ['a lock', 'a damaged one is nobody’s; an empty one is KubeEdge’s and counts while a keadm runs'],
  ['the floor of epochs', 'it is put together again from the permissions on disk'],
  ['a staged file', '`PreparedStale` before the stop; the hub prepares again'],
  ['the backup, or the old file under its second name', 'the other one is used'],
  ['a spooled result', 'it is moved to `rejected/` and never blocks a newer one'],
  [
    'a disk that takes no more writes after the stop',
    'the updater starts the agent that is there and ends; the next one goes on',
  ],
]
