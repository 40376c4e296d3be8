#include "gallery.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "page/html.h"

enum { PATH = 2048 };

// File name, model ("@" stands for the report's folder, "+" for ../shared/models, else a scene),
// options of `tribo render`, what is seen.
static const struct {
  const char *file, *model, *options, *caption;
} PICTURES[] = {
    {"cm_thrown", "sliding_cube.xml",
     "--key thrown --compare ncp,lcp,soft,comfree --trail --time 0.85 --frames 22 --camera "
     "90,55,1.6 "
     "--lookat 0.42,0.22,0.05",
     "CM fig. 6, 9, CF fig. 5: one throw along (2, 1) under four laws. Blue: ncp, straight; "
     "orange: "
     "lcp, turned aside by its pyramid; green: soft as MuJoCo's default; pink: comfree, too far"},
    {"cm_lift", "sliding_cube.xml",
     "--key thrown --compare ncp,ccp --trail --time 0.6 --frames 20 --camera 112,5,1.7 "
     "--lookat 0.33,0.16,0.12",
     "CM fig. 10: the same throw from the side. Orange, ccp, takes off while it slides; blue, ncp, "
     "stays on the floor"},
    {"cm_cube", "cm_cube.xml", "--time 0.1 --forces",
     "CM fig. 11, 14, 15: the cube on four corner spheres"},
    {"cm_heavy", "very_heavy_on_light.xml", "--time 0.2",
     "CM fig. 12: a million times heavier on top"},
    {"cm_quadruped", "quadruped.xml", "--key stand --time 0.5 --forces --camera 125,18,1.15",
     "CM fig. 8, 13: the Solo-like quadruped standing"},
    {"cm_walk_flat", "quadruped.xml",
     "--replay @/cm/walk_flat.csv --start 2 --time 1.28 --frames 32 --follow --camera 115,14,0.95",
     "CM fig. 18: trotting at 0.3 m/s, friction 0.9"},
    {"cm_walk_rough", "@/cm/walk_rough.xml",
     "--replay @/cm/walk_rough.csv --start 2 --time 1.28 --frames 32 --follow --camera 115,16,1.15",
     "CM fig. 19: trotting over bumps of 0.1 m, friction 0.3"},
    {"cm_humanoid", "humanoid.xml", "--key stand --time 1 --forces",
     "CM fig. 8, 16, 17: our humanoid, pushed around in fig. 17"},
    {"cm_hand", "hand.xml", "--key grasp --time 0.5",
     "CM fig. 8, 17, CF fig. 7: four-finger hand with a cube"},
    {"cm_talos", "+/mujoco_menagerie/pal_talos/scene_position.xml",
     "--time 0.2 --forces --camera 125,12,3.2", "CM fig. 16, 17, ADMM fig. 4, 5: Talos"},
    {"expo_quadruped", "quadruped_torque.xml", "--key stand --camera 125,18,1.2",
     "EXP fig. 1 to 6: the quadruped of squat, jump and trot"},
    {"expo_biped", "biped_torque.xml", "--key stand --camera 125,12,2.6",
     "EXP fig. 1, 2: the biped that walks"},
    {"cf_drop", "drop.xml",
     "--law comfree --time 1 --frames 26 --camera 125,25,4.2 --lookat 0,0,0.55",
     "CF fig. 2, 6: 125 primitives, forces in closed form"},
    {"admm_stack", "cube_stack.xml", "--camera 165,15",
     "ADMM fig. 1, 4: cubes from 1 kg at the bottom to 10,000 kg on top"},
    {"admm_hit", "wall.xml",
     "--key hit --time 0.8 --frames 24 --camera 55,18,4.4 --lookat 0.4,0,0.6",
     "ADMM fig. 5: a wall of boxes of 1 to 10,000 kg, hit by a ball"},
    {"admm_arm", "arm.xml", "--key ready", "ADMM fig. 6: our six-axis arm"},
    {"admm_cassie", "+/mujoco_menagerie/agility_cassie/scene.xml", "--key home",
     "ADMM fig. 6: Cassie"},
    {"admm_wall_arm", "ur5_wall.xml", "--key wall --camera 75,12,1.9 --lookat 0.35,0,0.45",
     "ADMM fig. 8: an arm that slides on a wall"},
    {"sim_tower", "tower.xml", "--time 1", "Whole steps: ten boxes"},
    {"sim_cards", "card_house.xml", "--time 1", "A house of cards stands"},
    {"sim_arch", "arch.xml", "--time 1", "An arch of wedges stands by friction"},
    {"sim_dominoes", "dominoes.xml", "--key push --time 1.5 --frames 36 --camera 60,28,2",
     "Dominoes"},
    {"sim_grip", "grip.xml", "--key hold --time 0.5 --camera 60,20,0.6",
     "Two fingers hold a heavy box"},
};
enum { PICTURE_COUNT = sizeof PICTURES / sizeof *PICTURES };

// Replace each "@" of an argument by the report's folder.
static void expand(const char* text, const char* report, char* out, size_t size) {
  size_t used = 0;
  for (; *text && used + 1 < size; text++) {
    const char* piece = report;
    size_t n = *text == '@' ? strlen(report) : 1;
    if (*text != '@') piece = text;
    if (used + n + 1 > size) break;
    memcpy(out + used, piece, n);
    used += n;
  }
  out[used] = 0;
}

static void model_path(const char* model, const char* report, char* out, size_t size) {
  if (*model == '@') {
    expand(model, report, out, size);
  } else if (*model == '+') {
    snprintf(out, size, TB_SHARED_DIR "/models%s", model + 1);
  } else {
    snprintf(out, size, TB_SCENES_DIR "/%s", model);
  }
}

void draw_gallery(const char* tribo, const char* report, bool again) {
  char folder[PATH], model[PATH], options[PATH], image[PATH + 128], command[5 * PATH];
  snprintf(folder, sizeof folder, "%s/gallery", report);
  mkdir(folder, 0777);
  for (int i = 0; i < PICTURE_COUNT; i++) {
    model_path(PICTURES[i].model, report, model, sizeof model);
    expand(PICTURES[i].options, report, options, sizeof options);
    snprintf(image, sizeof image, "%s/%s.png", folder, PICTURES[i].file);
    if (access(model, R_OK) != 0 || (!again && access(image, R_OK) == 0)) continue;
    snprintf(command, sizeof command,
             "timeout 60 '%s' render '%s' %s --size 360x270 --out '%s' >/dev/null 2>&1", tribo,
             model, options, image);
    if (system(command) != 0) {
      fprintf(stderr, "no picture %s of %s\n", PICTURES[i].file, PICTURES[i].model);
      remove(image);
    }
  }
}

void write_gallery(FILE* f, const char* report) {
  char folder[PATH], path[PATH + 128], file[128];
  snprintf(folder, sizeof folder, "%s/gallery", report);
  fputs("<h2 id=\"gallery\">Gallery</h2><div class=\"gallery\">\n", f);
  for (int i = 0; i < PICTURE_COUNT; i++) {
    snprintf(file, sizeof file, "%s.png", PICTURES[i].file);
    snprintf(path, sizeof path, "%s/%s", folder, file);
    if (access(path, R_OK) != 0) continue;
    fputs("<figure>", f);
    html_image(f, folder, file, PICTURES[i].caption);
    fputs("<figcaption>", f);
    html_escape(f, PICTURES[i].caption);
    fputs("</figcaption></figure>\n", f);
  }
  fputs("</div>\n", f);
}
