/* The names of sky frames. */
#ifndef FRAME_H
#define FRAME_H

/* Spells a frame as all of srcfind does: ICRS for ` icrs `, FK5 for FK5- and J2000, FK4 for B1950,
 * FK4-NO-E for fk4_no_e. Other names get capitals. The text does not get longer. */
void frame_spell(char *text);

#endif
